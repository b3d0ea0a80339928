"""From the outputs of all exits on a data set to the numbers of one epoch."""

import logging
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from numpy import ndarray

from exitwise.losses import compared_rows, geometry
from exitwise.metrics import Scores, constant_warning, cross_layer_average, score_exits

logger = logging.getLogger(__name__)


class ExitPredictions(NamedTuple):
    """What all exits say of a data set of n rows.

    Attributes:
        layers: the m layers.
        logits: [m, n, k].
        embeddings: $h^e$ of each layer, [n, d]; widths may differ.
        labels: [n], -1 where a row has none.
    """

    layers: tuple[int, ...]
    logits: Float[ndarray, "m n k"]
    embeddings: dict[int, Float[ndarray, "n _"]]
    labels: Int[ndarray, " n"]


def exit_scores(predictions: ExitPredictions, metric: str) -> dict[int, Scores]:
    """The scores of each exit, with the geometry of its embeddings beside them.

    The geometry is that of `compared_rows`. Empty scores where no row has a label.
    """
    scores = score_exits(predictions.logits, predictions.layers, predictions.labels, metric)
    labels = torch.from_numpy(predictions.labels)
    rows = compared_rows(labels)
    if len(rows) == 0:
        return scores
    for layer, embeddings in predictions.embeddings.items():
        shape = geometry(torch.from_numpy(embeddings)[rows], labels[rows])
        if shape.is_collapsed():
            logger.warning(
                "exit %d: samples of different labels have a mean cosine of %.3f (collapse): "
                "a lower learning_rate or a higher exit_learning_rate may mend it",
                layer,
                shape.negative_similarity,
            )
        scores[layer].update({name: float(value) for name, value in shape._asdict().items()})
    return scores


def average_score(scores: Mapping[int, Scores]) -> Scores:
    """The cross-layer average of the metrics; empty unless all layers 1 … M are there."""
    is_whole = sorted(scores) == list(range(1, len(scores) + 1))
    return cross_layer_average(scores) if is_whole and all(scores.values()) else {}


def warn_of_constant_exits(predictions: ExitPredictions, class_names: Sequence[str]) -> None:
    """Says which exits answer the same label for every row, with the histogram."""
    for layer, logits in zip(predictions.layers, predictions.logits, strict=True):
        warning = constant_warning(logits.argmax(axis=-1), class_names)
        if warning:
            logger.warning("exit %d: %s", layer, warning)
