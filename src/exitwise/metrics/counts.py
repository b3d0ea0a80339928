"""From predictions and labels to counts, on which all scores rest."""

import numpy as np
from jaxtyping import Int
from numpy import ndarray

UNLABELLED = -1
"""The label of a row without label, as in GLUE's test sets."""


def num_labelled(labels: Int[ndarray, " n"]) -> int:
    """How many rows have a label, and so take part in the scores."""
    return int((labels != UNLABELLED).sum())


def confusion_counts(
    predictions: Int[ndarray, " n"], labels: Int[ndarray, " n"], num_labels: int
) -> Int[ndarray, "k k"]:
    """How often class i (row) was predicted as class j (column), over the labelled rows.

    >>> confusion_counts(np.array([1, 1, 0]), np.array([1, 0, -1]), 2)
    array([[0, 1],
           [0, 1]])
    """
    labelled = labels != UNLABELLED
    for name, classes in (("labels", labels[labelled]), ("predictions", predictions)):
        strange = classes[(classes < 0) | (classes >= num_labels)]
        if strange.size:
            raise ValueError(f"{name} must be 0 … {num_labels - 1}, found {strange[0]}")
    pairs = labels[labelled].astype(np.int64) * num_labels + predictions[labelled]
    counts: ndarray = np.bincount(pairs, minlength=num_labels**2)
    return counts.reshape(num_labels, num_labels)
