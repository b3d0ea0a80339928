"""Which tasks and seeds some rows can be compared on."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

BySeed = Mapping[int, float]
Values = Mapping[str, Mapping[str, BySeed]]
"""A quantity by row, column and seed."""
Pair = tuple[str, str]
"""Two rows."""


class Shared(NamedTuple):
    """What some rows have in common.

    Attributes:
        tasks: those that are compared.
        means: by seed the mean over these tasks of each row.
    """

    tasks: tuple[str, ...]
    means: dict[int, tuple[float, ...]]

    def named(self, label: str) -> str:
        """A label that tells the tasks."""
        return f"{label} on {', '.join(self.tasks)}" if self.tasks else label


def shared(values: Values, rows: Sequence[str]) -> Shared:
    """The means of rows on the tasks that they can be compared on, seed by seed.

    Every seed that counts has every row on every task that counts: means over different tasks
    would make the difference of tasks one of seeds. Where tasks were run with different seeds, that
    choice of tasks counts which gives most pairs of task and seed, but at least two seeds if any
    does: a task with few seeds, or one that is still being run, must not hide the others. The
    choice does not see the values.
    """
    by_row = [by_task(values.get(row, {})) for row in rows]
    tasks = [task for task in by_row[0] if all(task in each for each in by_row)]
    seeds = {task: set.intersection(*(set(each[task]) for each in by_row)) for task in tasks}
    chosen: tuple[str, ...] = ()
    kept: set[int] = set()
    for common in seeds.values():
        able = tuple(task for task in tasks if common and common <= seeds[task])
        if weight(common, able) > weight(kept, chosen):
            chosen, kept = able, common
    means = {
        seed: tuple(float(np.mean([each[task][seed] for task in chosen])) for each in by_row)
        for seed in sorted(kept)
    }
    return Shared(chosen, means)


def weight(seeds: set[int], tasks: Sequence[str]) -> tuple[bool, int, int]:
    """How much a choice of tasks, and the seeds that all of them have, can show."""
    return len(seeds) > 1, len(seeds) * len(tasks), len(seeds)


def gaps(values: Values, better: str, worse: str) -> tuple[Shared, list[float]]:
    """The differences of two rows, seed by seed, and on what."""
    found = shared(values, (better, worse))
    return found, [first - second for first, second in found.means.values()]


def by_task(columns: Mapping[str, BySeed]) -> dict[str, dict[int, float]]:
    """One number a task and seed: the mean over the columns of a task.

    Seeds that lack a column of the task, or have no finite number there, are left out.
    """
    parts: dict[str, list[BySeed]] = {}
    for column, found in columns.items():
        parts.setdefault(task_of(column), []).append(found)
    means = {
        task: {seed: float(np.mean([each[seed] for each in found])) for seed in in_all(found)}
        for task, found in parts.items()
    }
    return {
        task: {seed: mean for seed, mean in found.items() if np.isfinite(mean)}
        for task, found in means.items()
    }


def in_all(found: Iterable[BySeed]) -> list[int]:
    """The seeds that all have."""
    return sorted(set.intersection(*(set(each) for each in found)))


def task_of(column: str) -> str:
    """The task of a column, which may name a part of it behind a colon.

    >>> task_of("mnli:mismatched")
    'mnli'
    """
    return column.partition(":")[0]
