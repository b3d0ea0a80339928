"""What is to be done for the tables that are asked for."""

from collections.abc import Sequence
from dataclasses import dataclass

from exitwise.experiments.cell import Cell
from exitwise.experiments.plan import Place, in_order
from exitwise.experiments.store import Result, Store


@dataclass(frozen=True)
class Job:
    """A cell that is to be trained, or looked into, or both.

    Attributes:
        cell: the cell.
        observations: what is not looked up yet.
        is_trained: whether its result is there.
    """

    cell: Cell
    observations: tuple[str, ...]
    is_trained: bool


def jobs(places: Sequence[Place], store: Store, *, retry: bool = False) -> list[Job]:
    """What is missing for some places, in the order in which it is run.

    Args:
        places: of tables.
        store: what is there.
        retry: try again what has failed, cells and observations alike.
    """

    def is_open(key: str, observation: str | None = None) -> bool:
        has_failed = store.failure(key, observation) is not None
        return not store.has(key, observation) and (retry or not has_failed)

    wanted: dict[str, set[str]] = {}
    for place in places:
        looks = wanted.setdefault(place.cell.key, set())
        if place.observation is not None and is_open(place.cell.key, place.observation):
            looks.add(place.observation)
    found = []
    for cell in in_order(place.cell for place in places):
        is_trained = store.has(cell.key)
        looks = wanted.get(cell.key, set())
        if is_open(cell.key) or (is_trained and looks):
            found.append(Job(cell, tuple(sorted(looks)), is_trained))
    return found


def failures(wanted: Sequence[Job], store: Store) -> list[Result]:
    """Why jobs did not end: that of the cell, or those of what was to be looked up in it."""
    parts = [(job.cell.key, each) for job in wanted for each in (None, *job.observations)]
    found = (store.failure(key, observation) for key, observation in parts)
    return [failure for failure in found if failure is not None]
