"""How long what is missing will take, from what has been run already."""

from collections.abc import Iterable, Sequence
from statistics import fmean

from exitwise.experiments.cell import Cell
from exitwise.experiments.jobs import Job
from exitwise.experiments.runs import Runs
from exitwise.experiments.store import Store


def estimate(
    wanted: Sequence[Job], known: Iterable[Cell], store: Store, runs: Runs
) -> tuple[float, int]:
    """Seconds of all training for the jobs, and of how many cells nothing is known.

    A cell takes as long as the same system on the same task did with other seeds, or as it did
    on other tasks. What is looked up in a model that is there takes next to nothing.

    Args:
        wanted: the jobs.
        known: cells that may have a result.
        store: the results.
        runs: the models.
    """
    by_task: dict[tuple[str, str], list[float]] = {}
    by_system: dict[str, list[float]] = {}
    for cell in known:
        if store.has(cell.key):
            seconds = store.read(cell.key)["seconds"]["all"]
            by_task.setdefault((system(cell), cell.task), []).append(seconds)
            by_system.setdefault(system(cell), []).append(seconds)
    total, unknown = 0.0, 0
    for cell in trained_for(wanted, runs):
        name = system(cell)
        seconds = by_task.get((name, cell.task)) or by_system.get(name)
        if seconds is None:
            unknown += 1
        else:
            total += fmean(seconds)
    return total, unknown


def trained_for(wanted: Iterable[Job], runs: Runs) -> list[Cell]:
    """The cells that jobs train: those without result, and those whose model is gone but read."""
    found: dict[str, Cell] = {}
    for job in wanted:
        cell, backbone = job.cell, job.cell.backbone
        if job.is_trained and runs.has_model(cell):
            continue
        if backbone is not None and not runs.has_model(backbone):
            found[backbone.key] = backbone
        found[cell.key] = cell
    return list(found.values())


def system(cell: Cell) -> str:
    """What a cell is called but for its changes, task and seed."""
    words = cell.name.split()
    return " ".join(words[:3]) if words[1] == "on" else words[0]
