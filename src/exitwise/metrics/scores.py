"""Accuracy, F1 and Matthews correlation as GLUE counts them: percentages, per exit.

All are computed from the counts of the confusion matrix. So nothing but numpy is needed where a
deployed model is scored, and no degenerate prediction meets a division by zero or a warning.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from exitwise.metrics.counts import confusion_counts, num_labelled

Metric = Literal["accuracy", "f1", "matthews", "f1_accuracy"]
"""What a task is judged by; `f1_accuracy` is the mean of the two, GLUE's number for MRPC and QQP.

The paper prints one number for MRPC and for QQP and does not say which: hence the mean, and
both parts beside it; "f1" and "accuracy" are the other readings.
"""

Scores = dict[str, float]
"""Percentages by name; "score" is the official number. Empty where no row has a label."""


def score(
    predictions: Int[ndarray, " n"], labels: Int[ndarray, " n"], metric: str, num_labels: int
) -> Scores:
    """The official score of a task, its parts by name, and the accuracy in any case.

    Rows without label (-1) are left out (`num_labelled` counts the others); without a single
    label there is nothing to say, and the result is empty.

    >>> score(np.array([1, 1, 1, 1]), np.array([1, 0, 1, 1]), "matthews", 2)
    {'score': 0.0, 'matthews': 0.0, 'accuracy': 75.0}
    """
    if metric not in get_args(Metric):
        raise ValueError(f"metric must be one of {', '.join(get_args(Metric))}, found {metric!r}")
    if not num_labelled(labels):
        return {}
    counts = confusion_counts(predictions, labels, num_labels)
    parts = {name: float(100 * _FORMULAS[name](counts)) for name in metric.split("_")}
    return {
        "score": float(official_score(counts, metric)),
        **parts,
        "accuracy": float(100 * _accuracy(counts)),
    }


def official_score(counts: Int[ndarray, "*r k k"], metric: str) -> Float[ndarray, "*r"]:
    """The official score of a confusion matrix, or of each of many at once.

    >>> official_score(np.array([[[3, 1], [0, 4]], [[1, 1], [1, 1]]]), "accuracy")
    array([87.5, 50. ])
    """
    parts = [100 * _FORMULAS[name](counts) for name in metric.split("_")]
    return np.asarray(np.mean(parts, axis=0))


def score_exits(
    logits: Float[ndarray, "m n k"],
    layers: Sequence[int],
    labels: Int[ndarray, " n"],
    metric: str,
) -> dict[int, Scores]:
    """The scores of each exit; `layers` names the exits in the order of `logits`."""
    if len(layers) != len(logits):
        raise ValueError(f"found logits of {len(logits)} exits for {len(layers)} layers")
    predictions = logits.argmax(axis=-1)  # [m, n]
    return {
        layer: score(predicted, labels, metric, logits.shape[-1])
        for layer, predicted in zip(layers, predictions, strict=True)
    }


def cross_layer_average(scores: Mapping[int, Mapping[str, float]]) -> Scores:
    """The mean over all layers 1 … M of each metric by itself, the last layer included.

    An average over some of the layers compares with no other, hence it is refused.

    >>> cross_layer_average({1: {"f1": 70.0, "accuracy": 60.0}, 2: {"f1": 80.0, "accuracy": 90.0}})
    {'f1': 75.0, 'accuracy': 75.0}
    """
    if sorted(scores) != list(range(1, len(scores) + 1)) or not scores:
        raise ValueError(f"a cross-layer average needs the layers 1 … M, found {sorted(scores)}")
    return {
        name: float(np.mean([of_layer[name] for of_layer in scores.values()])) for name in scores[1]
    }


def _accuracy(counts: Int[ndarray, "*r k k"]) -> Float[ndarray, "*r"]:
    return np.asarray(np.trace(counts, axis1=-2, axis2=-1) / counts.sum(axis=(-2, -1)))


def _f1(counts: Int[ndarray, "*r k k"]) -> Float[ndarray, "*r"]:
    """F1 of class 1 for two classes, else macro: the mean over the classes.

    A class that occurs neither in the labels nor in the predictions has no F1 and is left out.
    """
    occurrences = counts.sum(axis=-2) + counts.sum(axis=-1)  # [*r, k]
    per_class = 2 * np.diagonal(counts, axis1=-2, axis2=-1) / occurrences.clip(min=1)
    if counts.shape[-1] == 2:
        return np.asarray(per_class[..., 1])
    return np.asarray(per_class.mean(axis=-1, where=occurrences > 0))


def _matthews(counts: Int[ndarray, "*r k k"]) -> Float[ndarray, "*r"]:
    r"""Correlation of labels and predictions, for K classes (Gorodkin 2004); 0 where undefined.

    $$\frac{c\,n - \sum_k t_k p_k}{\sqrt{(n^2 - \sum_k p_k^2)(n^2 - \sum_k t_k^2)}}$$

    with $c$ of $n$ rows correct, $t_k$ rows of class k and $p_k$ predicted as k. It is undefined
    if all labels or all predictions are one class.
    """
    exact = counts.astype(np.float64)  # products of four counts overflow integers
    truth, predicted, total = exact.sum(axis=-1), exact.sum(axis=-2), exact.sum(axis=(-2, -1))
    spread = (total**2 - (predicted**2).sum(axis=-1)) * (total**2 - (truth**2).sum(axis=-1))
    correct = np.trace(exact, axis1=-2, axis2=-1)
    covariance = correct * total - (truth * predicted).sum(axis=-1)
    is_defined = spread > 0
    return np.asarray(
        np.where(is_defined, covariance / np.sqrt(np.where(is_defined, spread, 1)), 0)
    )


_FORMULAS: dict[str, Callable[[Int[ndarray, "*r k k"]], Float[ndarray, "*r"]]] = {
    "accuracy": _accuracy,
    "f1": _f1,
    "matthews": _matthews,
}
