"""How sure the scores of runs are: over the examples of one, and over the seeds of several."""

from collections.abc import Sequence

from jaxtyping import Int
from numpy import ndarray

from exitwise.experiments.answers import answered, deepest
from exitwise.experiments.statistics import (
    Interval,
    bootstrap_interval,
    over_examples,
    summary,
)
from exitwise.experiments.store import Result
from exitwise.metrics import score

RESAMPLES = 200  # a page has hundreds of runs


def example_interval(result: Result) -> Interval:
    """95 % of the last exit's score on the first validation set, by resampling its rows."""
    metric, num_labels = result["data"]["metric"], len(result["data"]["labels"])
    first = next(iter(answered(result).values()))

    def value(answers: Int[ndarray, " n"], labels: Int[ndarray, " n"]) -> float:
        return score(answers, labels, metric, num_labels)["score"]

    return over_examples(deepest(first.answers), first.labels, value, resamples=RESAMPLES)


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
