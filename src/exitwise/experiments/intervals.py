"""How sure the scores of runs are: over the examples of one, and over the seeds of several."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from exitwise.experiments.answers import Answered, answered, deepest
from exitwise.experiments.statistics import (
    Interval,
    bootstrap_interval,
    percentile_interval,
    resampled_rows,
    summary,
)
from exitwise.experiments.store import Result
from exitwise.metrics import official_score

RESAMPLES = 200  # a page has hundreds of runs


def resampled_scores(result: Result, found: Answered) -> dict[str, Float[ndarray, " r"]]:
    """The scores of every exit, by layer, on resampled rows of a validation set.

    Sets of equal size are drawn from alike, whatever the run.

    Args:
        result: of the run, for its metric.
        found: the set.
    """
    metric, num_labels = result["data"]["metric"], len(result["data"]["labels"])
    labelled = found.labelled()
    rows = resampled_rows(len(labelled.labels), resamples=RESAMPLES)
    return {
        layer: official_score(
            counts_on(rows, answers, labelled.labels, num_labels=num_labels), metric
        )
        for layer, answers in labelled.answers.items()
    }


def counts_on(
    rows: Int[ndarray, "r n"],
    answers: Int[ndarray, " n"],
    labels: Int[ndarray, " n"],
    *,
    num_labels: int,
) -> Int[ndarray, "r k k"]:
    """`confusion_counts` of each resample, all at once."""
    num_pairs = num_labels**2
    pairs = labels * num_labels + answers
    drawn = pairs[rows] + num_pairs * np.arange(len(rows))[:, None]  # [r, n]
    counts = np.bincount(drawn.ravel(), minlength=len(rows) * num_pairs)
    return counts.reshape(len(rows), num_labels, num_labels)


def example_interval(result: Result) -> Interval:
    """95 % of the last exit's score on the first validation set, by resampling its rows."""
    first = next(iter(answered(result).values()))
    return percentile_interval(deepest(resampled_scores(result, first)))


def over_seeds(scores: Sequence[float]) -> str:
    """Mean and both intervals in words.

    >>> over_seeds([80.0])
    '80.0 of a single seed'
    >>> over_seeds([79.0, 80.0, 81.0])
    '80.0 over 3 seeds, 95 % from 77.5 to 82.5 by t, from 79.0 to 81.0 by bootstrap (too narrow)'
    """
    found = summary(scores)
    if found.interval is None:
        return f"{found.mean:.1f} of a single seed"
    (low, high), (least, most) = found.interval, bootstrap_interval(scores)
    return (
        f"{found.mean:.1f} over {found.num_seeds} seeds, 95 % from {low:.1f} to {high:.1f} by t, "
        f"from {least:.1f} to {most:.1f} by bootstrap (too narrow)"
    )
