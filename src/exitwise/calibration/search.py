"""The best policy of a kind: all of one family first, then exit by exit."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from exitwise.inference.replay import stops_of
from exitwise.metrics import score
from exitwise.policies import ExitPolicy, ThresholdPolicy

MAX_SWEEPS = 3
"""Over all exits; thresholds hardly move after the second."""


class Point(NamedTuple):
    """What a policy does to rows.

    Attributes:
        policy: the policy.
        drop: the score of the full model less that of the early exit, in points of the metric.
        cost: of a row on average, in the unit of the costs that were given.
    """

    policy: ExitPolicy
    drop: float
    cost: float


@dataclass(frozen=True)
class StoredRows:
    """Labelled rows that every exit has answered.

    Attributes:
        log_probs: of the exits, the temperatures applied.
        labels: of the rows.
        layers: those of the exits.
        metric: a name of `exitwise.metrics.Metric`.
        costs: what it costs to leave a row at each exit.
    """

    log_probs: Float[ndarray, "m n k"]
    labels: Int[ndarray, " n"]
    layers: tuple[int, ...]
    metric: str
    costs: Float[ndarray, " m"]

    def __len__(self) -> int:
        return len(self.labels)

    def score_of(self, answers: Int[ndarray, " n"]) -> float:
        """In points of the metric."""
        return score(answers, self.labels, self.metric, self.log_probs.shape[-1])["score"]

    @property
    def full(self) -> Int[ndarray, " n"]:
        """The last exit's answers."""
        answers: ndarray = self.log_probs[-1].argmax(axis=-1)
        return answers

    def stops(self, policy: ExitPolicy) -> tuple[ndarray, ndarray]:
        """Depth and label of each row's answer."""
        return stops_of(policy, self.log_probs, self.layers)

    def point(self, policy: ExitPolicy) -> Point:
        """What the policy does to these rows."""
        depths, answers = self.stops(policy)
        drop = self.score_of(self.full) - self.score_of(answers)
        return Point(policy, drop, float(self.costs[depths].mean()))

    def variants(self, policy: ExitPolicy, size: int = 200) -> list[ExitPolicy]:
        """The policy's family on these rows, from safest to fastest."""
        return policy.variants(self.log_probs, self.layers, size=size)


@dataclass(frozen=True, kw_only=True)
class Goal:
    """What is wanted: exactly one of the two.

    Attributes:
        max_drop: the least cost at a drop of at most so many points.
        max_cost: the least drop at a cost of at most so much.
        unit: of that cost, in words.
    """

    max_drop: float | None = None
    max_cost: float | None = None
    unit: str = "layers"

    def best(self, points: Iterable[Point]) -> Point | None:
        """The best of those that are good enough, if there are any."""
        allowed = [point for point in points if self.allows(point)]
        return min(allowed, key=self.rank, default=None)

    def allows(self, point: Point) -> bool:
        """Whether a point is good enough; rounding is no drop."""
        if self.max_drop is not None:
            return point.drop <= self.max_drop + 1e-9
        assert self.max_cost is not None
        return point.cost <= self.max_cost * (1 + 1e-9)

    def rank(self, point: Point) -> tuple[float, float]:
        """The smaller, the better."""
        return (point.cost, point.drop) if self.max_drop is not None else (point.drop, point.cost)


def search(policy: ExitPolicy, rows: StoredRows, goal: Goal) -> Point | None:
    """The best policy of the kind of `policy`; `None` if none is good enough."""
    best = goal.best(map(rows.point, rows.variants(policy)))
    if best is None or not isinstance(best.policy, ThresholdPolicy):
        return best
    return descend(best, rows, goal)


def descend(start: Point, rows: StoredRows, goal: Goal) -> Point:
    """Coordinate descent: each exit's threshold in turn, until nothing gets better."""
    best = start
    for _ in range(MAX_SWEEPS):
        before = best
        for depth in range(len(rows.layers) - 1):
            candidates = map(rows.point, thresholds_at(depth, best.policy, rows))
            best = goal.best([best, *candidates]) or best
        if goal.rank(best) == goal.rank(before):
            break
    return best


def thresholds_at(depth: int, policy: ExitPolicy, rows: StoredRows) -> list[ExitPolicy]:
    """The policy with every other threshold at one exit that makes a difference on the rows."""
    assert isinstance(policy, ThresholdPolicy)
    layers = rows.layers[:-1]
    usual = {layer: policy.threshold_at(layer) for layer in layers}
    scores = np.unique(np.asarray(policy.score(rows.log_probs[depth])))
    if len(scores) > 100:
        scores = np.quantile(scores, np.linspace(0, 1, 100))
    return [
        replace(policy, threshold=usual | {layers[depth]: value})
        for value in (None, *scores.tolist())
    ]
