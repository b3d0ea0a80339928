"""One system is better than others on so many tasks."""

from collections.abc import Sequence
from dataclasses import dataclass

from exitwise.experiments.claims.base import UNDECIDED, Claim, Outcome, is_negative, is_positive
from exitwise.experiments.claims.pairing import Pair, Values, gaps, task_of
from exitwise.experiments.statistics import Comparison


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

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """With each rival."""
        return tuple((self.better, rival) for rival in self.worse)

    def differences(self, values: Values) -> dict[str, list[float]]:
        """Task by task and rival by rival."""
        return {
            f"{self.better} > {rival} on {task}": gaps(only(task, values), self.better, rival)[1]
            for task in dict.fromkeys(map(task_of, values.get(self.better, {})))
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


def only(task: str, values: Values) -> Values:
    """The columns of one task."""
    return {
        row: {column: found for column, found in columns.items() if task_of(column) == task}
        for row, columns in values.items()
    }
