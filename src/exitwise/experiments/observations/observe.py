"""What is looked up in every finished model: answers and geometry."""

from typing import Any

import numpy as np
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cosine_similarity

from exitwise.experiments.answers import kept
from exitwise.experiments.observations.finished import Finished
from exitwise.losses import geometry
from exitwise.outputs import ExitOutput


def observe(finished: Finished) -> dict[str, Any]:
    """Answers of every exit on each validation set, and geometry on the first one."""
    outputs, labels = finished.compared()
    last = outputs[max(outputs)].label_embeddings
    shapes = {str(layer): shape(each, labels, last=last) for layer, each in outputs.items()}
    return {**kept(finished.answered()), "geometry": shapes}


def shape(
    output: ExitOutput, labels: Int[Tensor, " n"], *, last: Float[Tensor, "k e"]
) -> dict[str, float | None]:
    """How an exit's embeddings lie: `Geometry`, and the mean cosine with the own label's.

    Once with the exit's own label embeddings, and once with those of the last exit, to which ACL-CL
    draws the samples of all exits; `None` where these are of another width.
    """
    samples = output.embedding
    found = {name: value.item() for name, value in geometry(samples, labels)._asdict().items()}
    for name, labels_of in (("own", output.label_embeddings), ("last", last)):
        found[f"{name}_label_similarity"] = (
            cosine_similarity(samples, labels_of[labels]).mean().item()
            if labels_of.shape[1] == samples.shape[1]
            else np.nan
        )
    return {name: None if np.isnan(value) else round(value, 5) for name, value in found.items()}
