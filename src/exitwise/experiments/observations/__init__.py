"""What is looked up in a finished model beyond its scores.

observe       answers of every validation row, by exit and set: for intervals over examples;
              geometry of every exit's embeddings: alignment, uniformity, nearness to the own label
course        scores after each epoch, and open gates
angles        between the gradients of SCL and cross-entropy, batch by batch (figure 2)
embeddings    of one exit with its label embeddings, in two dimensions (figure 6)
"""

from exitwise.experiments.observations.angles import angles
from exitwise.experiments.observations.course import course
from exitwise.experiments.observations.embeddings import embeddings
from exitwise.experiments.observations.finished import Finished
from exitwise.experiments.observations.observe import observe

__all__ = ["Finished", "angles", "course", "embeddings", "observe"]
