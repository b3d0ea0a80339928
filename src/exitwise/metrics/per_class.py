"""Precision, recall and F1 of each class."""

from typing import NamedTuple

from jaxtyping import Int
from numpy import ndarray

from exitwise.metrics.counts import confusion_counts


class ClassScores(NamedTuple):
    """One row of the per-class table: percentages, and rows labelled and predicted as the class."""

    precision: float
    recall: float
    f1: float
    support: int
    predicted: int


def class_table(
    predictions: Int[ndarray, " n"], labels: Int[ndarray, " n"], num_labels: int
) -> list[ClassScores]:
    """Precision, recall and F1 of every class; 0 where undefined. Rows without label are left out.

    >>> import numpy as np
    >>> for row in class_table(np.array([1, 1, 1]), np.array([1, 0, 1]), 2):
    ...     print(*(round(value, 1) for value in row))
    0.0 0.0 0.0 1 0
    66.7 100.0 80.0 2 3
    """
    counts = confusion_counts(predictions, labels, num_labels)
    columns = (counts.diagonal(), counts.sum(axis=1), counts.sum(axis=0))
    return [
        ClassScores(
            precision=_percent(hits, predicted),
            recall=_percent(hits, support),
            f1=_percent(2 * hits, support + predicted),
            support=support,
            predicted=predicted,
        )
        for hits, support, predicted in zip(*(each.tolist() for each in columns), strict=True)
    ]


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0
