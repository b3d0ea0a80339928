"""How long what is missing will take, from what has been run already."""

from collections.abc import Iterable, Sequence
from statistics import fmean

from exitwise.experiments.cell import Cell
from exitwise.experiments.jobs import Job
from exitwise.experiments.store import Store


def estimate(wanted: Sequence[Job], known: Iterable[Cell], store: Store) -> tuple[float, int]:
    """Seconds of the jobs, and of how many nothing is known.

    A cell takes as long as the same system on the same task did with other seeds, or as it did
    on other tasks.

    Args:
        wanted: the jobs.
        known: cells that may have a result.
        store: the results.
    """
    by_task: dict[tuple[str, str], list[float]] = {}
    by_system: dict[str, list[float]] = {}
    for cell in known:
        if store.has(cell.key):
            seconds = store.read(cell.key)["seconds"]["all"]
            by_task.setdefault((system(cell), cell.task), []).append(seconds)
            by_system.setdefault(system(cell), []).append(seconds)
    total, unknown = 0.0, 0
    for job in wanted:
        if job.is_trained:
            continue
        name = system(job.cell)
        seconds = by_task.get((name, job.cell.task)) or by_system.get(name)
        if seconds is None:
            unknown += 1
        else:
            total += fmean(seconds)
    return total, unknown


def system(cell: Cell) -> str:
    """What a cell is called but for its changes, task and seed."""
    words = cell.name.split()
    return " ".join(words[:3]) if words[1] == "on" else words[0]
