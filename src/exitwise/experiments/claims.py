"""What the paper says, as data, and what so many seeds say to it."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from exitwise.experiments.statistics import LEVEL, Comparison
from exitwise.registry import Registry

Values = Mapping[str, Mapping[str, Mapping[int, float]]]
"""A quantity by row, column and seed."""

Quantity = Literal[
    "score", "shallow", "shallow_gain", "share_above_90", "closed_gates", "own_label_similarity"
]
Outcome = Literal["reproduced", "contradicted", "not decidable with this budget"]
UNDECIDED: Outcome = "not decidable with this budget"


@dataclass(frozen=True, kw_only=True)
class Claim(ABC):
    """A statement about rows of a table.

    Attributes:
        text: what the paper says.
        source: where.
        quantity: what is compared: the score of the table; the mean of the exits up to the middle,
            or that less the mean behind it; the share of batches whose gradients are more than 90°
            apart, or whose gate was closed, in percent; the mean cosine of samples with their own
            label embedding at the last exit.
    """

    registry: ClassVar[Registry["Claim"]] = Registry("claim", suffix="Claim")

    text: str
    source: str
    quantity: Quantity = "score"

    @property
    @abstractmethod
    def rows(self) -> tuple[str, ...]:
        """The rows that it speaks of."""

    @abstractmethod
    def differences(self, values: Values) -> dict[str, list[float]]:
        """What should be positive, by a label that says what it is: one number a seed."""

    def decide(self, tests: Sequence[Comparison]) -> Outcome:
        """Whether it holds, by the tests of its differences, corrected for the whole table.

        By default all must be significantly positive, and one that is significantly negative
        contradicts.
        """
        if any(is_negative(test) for test in tests):
            return "contradicted"
        return "reproduced" if tests and all(map(is_positive, tests)) else UNDECIDED


@Claim.registry.register
@dataclass(frozen=True, kw_only=True)
class GreaterClaim(Claim):
    """One system is better than another, on the mean of the columns that both have.

    Attributes:
        better: the row.
        worse: the other row.
    """

    better: str
    worse: str

    @property
    def rows(self) -> tuple[str, ...]:
        """Both."""
        return self.better, self.worse

    def differences(self, values: Values) -> dict[str, list[float]]:
        """By seed, over the columns where both have it."""
        return {f"{self.better} > {self.worse}": gaps(values, self.better, self.worse)}


@Claim.registry.register
@dataclass(frozen=True, kw_only=True)
class OrderClaim(Claim):
    """Each system is at least as good as the next one.

    It holds if the first is significantly better than the last and no two neighbours are
    significantly the other way round; other pairs are not looked at. That all neighbours differ
    significantly would be more than the paper's own numbers show.

    Attributes:
        order: the rows, the best first.
    """

    order: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.order) < 2:
            raise ValueError(f"an order needs at least 2 rows, found {list(self.order)}")

    @property
    def rows(self) -> tuple[str, ...]:
        """All of them."""
        return self.order

    def differences(self, values: Values) -> dict[str, list[float]]:
        """The ends first, then the neighbours."""
        pairs = [(self.order[0], self.order[-1]), *zip(self.order, self.order[1:], strict=False)]
        return {
            f"{better} > {worse}": gaps(values, better, worse)
            for better, worse in dict.fromkeys(pairs)
        }

    def decide(self, tests: Sequence[Comparison]) -> Outcome:
        """By the ends, unless a pair contradicts."""
        if any(map(is_negative, tests)):
            return "contradicted"
        return "reproduced" if is_positive(tests[0]) else UNDECIDED


@Claim.registry.register
@dataclass(frozen=True, kw_only=True)
class CountClaim(Claim):
    """One system is better than another, or than each of several, on at least so many tasks.

    A task with two validation sets counts once, by their mean. The claim is contradicted if the
    tasks that are not significantly the other way round are too few.

    Attributes:
        better: the row.
        worse: the other rows.
        at_least: so many tasks.
        of: of so many; tasks that were not run count as undecided.
    """

    better: str
    worse: tuple[str, ...]
    at_least: int
    of: int

    def __post_init__(self) -> None:
        if not self.worse or self.at_least > self.of:
            raise ValueError(
                f"worse needs a row and at_least be at most {self.of}, found {self.at_least}"
            )

    @property
    def rows(self) -> tuple[str, ...]:
        """All of them."""
        return self.better, *self.worse

    def differences(self, values: Values) -> dict[str, list[float]]:
        """Task by task and rival by rival."""
        tasks: dict[str, list[str]] = {}
        for column in values.get(self.better, {}):
            tasks.setdefault(task_of(column), []).append(column)
        return {
            f"{self.better} > {rival} on {task}": gaps(values, self.better, rival, columns=columns)
            for task, columns in tasks.items()
            for rival in self.worse
        }

    def decide(self, tests: Sequence[Comparison]) -> Outcome:
        """By counting the tasks won against all rivals, and those lost against one."""
        size = len(self.worse)
        by_task = [tests[start : start + size] for start in range(0, len(tests), size)]
        if sum(all(map(is_positive, task)) for task in by_task) >= self.at_least:
            return "reproduced"
        lost = sum(any(map(is_negative, task)) for task in by_task)
        return "contradicted" if self.of - lost < self.at_least else UNDECIDED


@Claim.registry.register
@dataclass(frozen=True, kw_only=True)
class BoundClaim(Claim):
    """A quantity lies above a bound, below one, or between both.

    Attributes:
        row: the system.
        above: the lower bound.
        below: the upper bound.
    """

    row: str
    above: float | None = None
    below: float | None = None

    def __post_init__(self) -> None:
        if self.above is None and self.below is None:
            raise ValueError("give a bound: above, below or both")

    @property
    def rows(self) -> tuple[str, ...]:
        """The one."""
        return (self.row,)

    def differences(self, values: Values) -> dict[str, list[float]]:
        """How far the mean of the columns is on the right side of each bound."""
        found = list(by_seed(values.get(self.row, {})).values())
        sides = {}
        if self.above is not None:
            sides[f"{self.row} > {self.above:g}"] = [value - self.above for value in found]
        if self.below is not None:
            sides[f"{self.row} < {self.below:g}"] = [self.below - value for value in found]
        return sides


@Claim.registry.register
@dataclass(frozen=True, kw_only=True)
class SpreadClaim(Claim):
    """Among some rows a quantity varies less than among others: the range, seed by seed.

    Attributes:
        less: rows of the smaller range.
        more: rows of the larger one.
    """

    less: tuple[str, ...]
    more: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.less) < 2 or len(self.more) < 2:
            raise ValueError("a range needs at least 2 rows on either side")

    @property
    def rows(self) -> tuple[str, ...]:
        """All of them."""
        return self.less + self.more

    def differences(self, values: Values) -> dict[str, list[float]]:
        """The larger range less the smaller one, of seeds that have all rows."""
        less, more = ranges(values, self.less), ranges(values, self.more)
        shared = sorted(less.keys() & more.keys())
        return {"a smaller range": [more[seed] - less[seed] for seed in shared]}


def is_positive(test: Comparison) -> bool:
    """Whether the difference is significantly above zero."""
    return test.adjusted <= LEVEL and test.difference > 0


def is_negative(test: Comparison) -> bool:
    """Whether the difference is significantly below zero."""
    return test.adjusted <= LEVEL and test.difference < 0


def task_of(column: str) -> str:
    """The task of a column, which may name one of its validation sets behind a colon."""
    return column.partition(":")[0]


def gaps(
    values: Values, better: str, worse: str, *, columns: Iterable[str] | None = None
) -> list[float]:
    """The differences of two rows by seed: means over the columns that both have.

    A seed counts if both have it on all of these columns: means over different tasks would make
    the difference of tasks one of seeds.
    """
    first, second = values.get(better, {}), values.get(worse, {})
    shared = [column for column in first if column in second]
    chosen = shared if columns is None else [column for column in columns if column in shared]
    left, right = by_seed(first, chosen), by_seed(second, chosen)
    return [left[seed] - right[seed] for seed in sorted(left.keys() & right.keys())]


def by_seed(
    columns: Mapping[str, Mapping[int, float]], chosen: Sequence[str] | None = None
) -> dict[int, float]:
    """The mean over some columns, all by default, of the seeds that have every one of them."""
    kept = [columns[column] for column in (columns if chosen is None else chosen)]
    if not kept:
        return {}
    seeds = set.intersection(*(set(each) for each in kept))
    means = {seed: float(np.mean([each[seed] for each in kept])) for seed in sorted(seeds)}
    return {seed: mean for seed, mean in means.items() if np.isfinite(mean)}


def ranges(values: Values, rows: Sequence[str]) -> dict[int, float]:
    """The largest less the smallest value of some rows, of seeds that all of them have."""
    kept = [values.get(row, {}) for row in rows]
    shared = [column for column in kept[0] if all(column in each for each in kept)]
    found = [by_seed(each, shared) for each in kept]
    seeds = set.intersection(*(set(each) for each in found))
    return {
        seed: max(each[seed] for each in found) - min(each[seed] for each in found)
        for seed in seeds
    }
