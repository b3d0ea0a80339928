"""What a score must be read beside: the majority class, and whether anything was told apart."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int
from numpy import ndarray

from exitwise.metrics.counts import UNLABELLED, num_labelled
from exitwise.metrics.scores import Scores, score


def majority_class(labels: Int[ndarray, " n"]) -> int:
    """The most frequent label, the smallest of several; rows without label do not count."""
    if not num_labelled(labels):
        raise ValueError("the majority class needs a labelled row, found none")
    return int(np.bincount(labels[labels != UNLABELLED]).argmax())


def majority_baseline(
    labels: Int[ndarray, " n"], metric: str, num_labels: int, *, majority: int | None = None
) -> Scores:
    """The scores of always answering the same class: what a score must be read beside.

    Args:
        labels: the labels that are scored.
        metric: as in `score`.
        num_labels: K.
        majority: the answer; best `majority_class` of the training labels, since a classifier
            knows no others. By default that of `labels`, which no constant answer can beat in
            accuracy.

    On MRPC's development set (279 of 408 pairs are paraphrases):

    >>> mrpc = np.repeat([1, 0], [279, 129])
    >>> {name: round(value, 1) for name, value in majority_baseline(mrpc, "f1_accuracy", 2).items()}
    {'score': 74.8, 'f1': 81.2, 'accuracy': 68.4}
    """
    if not num_labelled(labels):
        return {}
    answer = majority_class(labels) if majority is None else majority
    return score(np.full_like(labels, answer), labels, metric, num_labels)


def is_constant(predictions: Int[ndarray, " n"]) -> bool:
    """Whether several rows all get the same answer."""
    return len(predictions) > 1 and bool((predictions == predictions[0]).all())


def constant_warning(predictions: Int[ndarray, " n"], class_names: Sequence[str]) -> str | None:
    """What to tell of a constant predictor, whose Matthews correlation is 0; else `None`.

    >>> constant_warning(np.array([1, 1, 1]), ["unacceptable", "acceptable"])
    "all 3 rows are predicted as 'acceptable' (unacceptable: 0, acceptable: 3)"
    """
    if not is_constant(predictions):
        return None
    histogram = np.bincount(predictions, minlength=len(class_names))
    counts = ", ".join(
        f"{name}: {count}" for name, count in zip(class_names, histogram, strict=True)
    )
    answer = class_names[int(predictions[0])]
    return f"all {len(predictions)} rows are predicted as {answer!r} ({counts})"
