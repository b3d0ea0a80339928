"""Figures of the paper, and of what lies behind its tables, drawn from results."""

from collections.abc import Iterator

from exitwise.experiments.figures.angles import angles
from exitwise.experiments.figures.curves import curves
from exitwise.experiments.figures.embeddings import embeddings
from exitwise.experiments.figures.gates import gates
from exitwise.experiments.figures.geometry import geometry
from exitwise.experiments.figures.picture import Picture, save
from exitwise.experiments.plan import Experiments
from exitwise.experiments.store import Store

__all__ = ["Picture", "pictures", "save"]


def pictures(experiments: Experiments, store: Store) -> Iterator[Picture]:
    """All that there are results for; nothing is drawn yet."""
    for kind in (curves, angles, embeddings, geometry, gates):
        yield from kind(experiments, store)
