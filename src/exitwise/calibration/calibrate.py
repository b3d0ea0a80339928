"""From labelled rows that a run has not seen to a policy, and what it does in numbers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from exitwise.calibration.promise import broken_rows, fastest_safe, fewest_rows, least_risk
from exitwise.calibration.search import Goal, Point, StoredRows, search
from exitwise.calibration.temperature import fit_temperature
from exitwise.errors import ExitwiseError
from exitwise.metrics import UNLABELLED, expected_calibration_error
from exitwise.policies import ExitPolicy

FEWEST_ROWS = 20
"""With fewer, a temperature is that of two or three wrong answers, or of none."""

ENOUGH_ROWS = 200
"""With fewer, the standard error of an accuracy of 80 % is above three points."""


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """A policy, and what it does to the rows that it was measured on.

    Attributes:
        policy: with its thresholds and temperatures.
        metric: a name of `exitwise.metrics.Metric`.
        full_score: that of the last exit, in points of the metric.
        score: that of the early exit.
        cost: of a row on average, as a share of the whole model's.
        histogram: how many rows left at each layer.
        errors: the expected calibration error of each exit before and after its temperature.
        num_fitted: rows that temperatures and thresholds were chosen on.
        num_measured: rows that the numbers were measured on.
        promise: what holds for texts to come, in words; `None` if nothing is promised.
        notes: what the user should know.
    """

    policy: ExitPolicy
    metric: str
    full_score: float
    score: float
    cost: float
    histogram: dict[int, int]
    errors: dict[int, tuple[float, float]]
    num_fitted: int
    num_measured: int
    promise: str | None
    notes: tuple[str, ...]

    @property
    def drop(self) -> float:
        """What early exit loses, in points of the metric."""
        return self.full_score - self.score

    @property
    def mean_layer(self) -> float:
        """The layer at which a row leaves, on average."""
        total = sum(layer * count for layer, count in self.histogram.items())
        return total / max(1, self.num_measured)


def calibrate(
    logits: Float[ndarray, "m n k"],
    labels: Int[ndarray, " n"],
    layers: Sequence[int],
    *,
    kind: ExitPolicy,
    goal: Goal,
    costs: Sequence[float],
    metric: str = "accuracy",
    confidence: float | None = None,
    seed: int = 42,
) -> Calibration:
    """Chooses temperatures and thresholds, and measures what they do.

    Without `confidence` all rows choose and measure, and nothing is promised. With it, half of
    them chooses and the other half makes the promise (`exitwise.calibration.promise`).

    Args:
        logits: of the exits on rows that were not used in training.
        labels: of the rows; those without one are left out.
        layers: those of the exits.
        kind: a policy of the kind that is wanted; its thresholds do not matter.
        goal: what is wanted.
        costs: what it costs to leave a row at each exit, in the unit of `goal.max_cost`.
        metric: a name of `exitwise.metrics.Metric`.
        confidence: that the probability of "the full model is right and the early exit wrong" is
            at most `goal.max_drop` percent.
        seed: of the halves.

    Raises:
        ExitwiseError: there are too few rows, or too few for the promise, or it is asked of another
            metric than accuracy, or no policy is good enough.
    """
    kind.check(layers=layers, num_labels=logits.shape[-1])
    labelled = np.flatnonzero(labels != UNLABELLED)
    check_rows(labels[labelled].tolist())
    fitted, measured = labelled, labelled
    if confidence is not None:
        fitted, measured = np.array_split(np.random.default_rng(seed).permutation(labelled), 2)
        check_promise(goal, metric, confidence, len(labelled))
    temperatures = {
        layer: fit_temperature(exit_logits[fitted], labels[fitted])
        for layer, exit_logits in zip(layers, logits, strict=True)
    }
    warm = replace(kind, temperatures=temperatures)

    def stored(rows: Int[ndarray, " r"]) -> StoredRows:
        log_probs = warm.log_probabilities(logits[:, rows], tuple(layers))
        return StoredRows(log_probs, labels[rows], tuple(layers), metric, np.asarray(costs, float))

    chosen_on, measured_on = stored(fitted), stored(measured)
    best = search(warm, chosen_on, goal)
    if best is None:
        raise ExitwiseError(impossible(goal, chosen_on))
    promise = None
    if confidence is not None:
        assert goal.max_drop is not None
        best = promised(best, chosen_on, measured_on, goal.max_drop / 100, 1 - confidence)
        promise = (
            f"with {100 * confidence:g} % confidence, on texts like these {len(measured)} rows at "
            f"most {goal.max_drop:g} % are answered wrongly that the full model answers rightly"
        )
    point = measured_on.point(best.policy)
    full_score = measured_on.score_of(measured_on.full)
    depths, _ = measured_on.stops(best.policy)
    histogram = {layer: int((depths == depth).sum()) for depth, layer in enumerate(layers)}
    return Calibration(
        policy=best.policy,
        metric=metric,
        full_score=full_score,
        score=full_score - point.drop,
        cost=point.cost / float(costs[-1]),
        histogram=histogram,
        errors=calibration_errors(logits[:, measured], measured_on),
        num_fitted=len(fitted),
        num_measured=len(measured),
        promise=promise,
        notes=notes_on(histogram, measured_on, goal, promise),
    )


def promised(
    shape: Point, chosen_on: StoredRows, tested_on: StoredRows, alpha: float, delta: float
) -> Point:
    """The fastest of the shape's family whose risk is shown on rows that did not choose it."""
    family = chosen_on.variants(shape.policy)
    full, labels = tested_on.full, tested_on.labels
    broken = np.stack([broken_rows(full, tested_on.stops(policy)[1], labels) for policy in family])
    number = fastest_safe(broken, alpha=alpha, delta=delta)
    if number is None:
        raise ExitwiseError(
            "not even the safest policy of this kind keeps the promise: choose another kind"
        )
    return tested_on.point(family[number])


def check_rows(labels: Sequence[object]) -> None:
    """Whether so many labelled rows can choose anything."""
    if len(labels) < FEWEST_ROWS:
        raise ExitwiseError(
            f"calibration needs at least {FEWEST_ROWS} labelled rows, found {len(labels)}; "
            f"{ENOUGH_ROWS} or more are better"
        )
    classes = len(set(labels))
    if classes < 2:
        raise ExitwiseError(f"calibration needs rows of at least two classes, found {classes}")


def check_promise(goal: Goal, metric: str, confidence: float, num_rows: int) -> None:
    """Whether a promise can be made at all of so many labelled rows."""
    if not 0 < confidence < 1:
        raise ExitwiseError(f"confidence is between 0 and 1, found {confidence:g}")
    if goal.max_drop is None:
        raise ExitwiseError("a promise is of a drop: give --max-drop with --confidence")
    if not 0 < goal.max_drop < 100:
        raise ExitwiseError(f"a promised drop is between 0 and 100 points, found {goal.max_drop:g}")
    if metric != "accuracy":
        raise ExitwiseError(
            f"a promise counts wrong rows, which {metric} does not: use --metric accuracy"
        )
    alpha, delta = goal.max_drop / 100, 1 - confidence
    least = fewest_rows(alpha, delta)
    num_measured = num_rows // 2  # the other half chooses
    if num_measured < least:
        possible = rounded_up(100 * least_risk(num_measured, delta))
        raise ExitwiseError(
            f"a drop of {goal.max_drop:g} at {100 * confidence:g} % confidence needs {2 * least} "
            f"labelled rows, half of them to choose the thresholds, found {num_rows}: with these "
            f"--max-drop {possible:g} is the least"
        )


def rounded_up(bound: float) -> float:
    """With two decimals and not below, so that who asks for what is told gets it.

    >>> rounded_up(1.1911), rounded_up(4.0)
    (1.2, 4.0)
    """
    return math.ceil(100 * bound) / 100


def impossible(goal: Goal, rows: StoredRows) -> str:
    """Why no policy of the kind is good enough."""
    least = rows.costs[0]
    if goal.max_cost is not None and least > goal.max_cost:
        return (
            f"no policy meets {goal.max_cost:g} {goal.unit}: to leave every text at the first exit "
            f"takes {least:.4g} already; allow as much, or train a smaller encoder"
        )
    if goal.max_cost is not None:
        return (
            f"no policy of this kind meets {goal.max_cost:g} {goal.unit}: allow more, or choose "
            "another kind"
        )
    return f"no policy of this kind has a drop of at most {goal.max_drop:g}: choose another kind"


def calibration_errors(
    logits: Float[ndarray, "m n k"], rows: StoredRows
) -> dict[int, tuple[float, float]]:
    """The expected calibration error of each exit, before and after its temperature."""
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    before = shifted / shifted.sum(axis=-1, keepdims=True)
    after = np.exp(rows.log_probs)
    return {
        layer: (
            expected_calibration_error(before[depth], rows.labels),
            expected_calibration_error(after[depth], rows.labels),
        )
        for depth, layer in enumerate(rows.layers)
    }


def notes_on(
    histogram: dict[int, int], rows: StoredRows, goal: Goal, promise: str | None
) -> tuple[str, ...]:
    """What the user should know of the result."""
    notes = []
    if histogram[rows.layers[-1]] == len(rows):
        scores = [rows.score_of(exit.argmax(axis=-1)) for exit in rows.log_probs]
        best = int(np.argmax(scores[:-1])) if len(scores) > 1 else 0
        notes.append(
            "no text leaves before the last layer: nothing is gained. The best exit before it, at "
            f"layer {rows.layers[best]}, scores {scores[best]:.1f}, the last one {scores[-1]:.1f}; "
            "allow a larger drop, or train the exits longer"
        )
    if len(rows) < ENOUGH_ROWS and promise is None:
        notes.append(
            f"{len(rows)} rows are few, others may lose much more: {ENOUGH_ROWS} or more are better"
        )
    if promise is None and goal.max_drop is not None:
        notes.append(
            "the thresholds were chosen on the rows that they were measured on: nothing is "
            "promised for other texts; --confidence 0.95 makes a promise"
        )
    return tuple(notes)
