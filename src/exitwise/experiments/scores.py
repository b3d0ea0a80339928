"""What the results of a table's cells say, by row, column and seed."""

from collections.abc import Iterable, Mapping
from functools import reduce
from operator import add
from typing import TypeVar

from numpy import ndarray

from exitwise.experiments.answers import deepest, of_column
from exitwise.experiments.claims import task_of
from exitwise.experiments.plan import Experiments, Place
from exitwise.experiments.store import Result, Store
from exitwise.experiments.table import Row, Table

N = TypeVar("N", float, ndarray)
Scores = dict[str, dict[str, dict[int, float]]]
"""Row, column, seed."""


def table_scores(experiments: Experiments, name: str, store: Store) -> Scores:
    """The scores of all rows as far as they are there."""
    table = experiments.tables[name]
    found: Scores = {row.name: {} for row in table.rows}
    for place, result in finished(experiments.places([name]), store):
        depths = experiments.overlay.encoders[place.row.encoder].variables
        for column in columns_of(table, place.cell.task):
            exits = exit_scores(result, column)
            score = chosen_score(place.row, exits, depths)
            if score is not None:
                found[place.row.name].setdefault(column, {})[place.cell.seed] = score
    return found


def layer_scores(
    experiments: Experiments, name: str, store: Store
) -> dict[str, dict[str, dict[int, dict[int, float]]]]:
    """By row, column, layer and seed."""
    table = experiments.tables[name]
    found: dict[str, dict[str, dict[int, dict[int, float]]]] = {row.name: {} for row in table.rows}
    for place, result in finished(experiments.places([name]), store):
        for column in columns_of(table, place.cell.task):
            layers = found[place.row.name].setdefault(column, {})
            for layer, score in exit_scores(result, column).items():
                layers.setdefault(int(layer), {})[place.cell.seed] = score
    return found


def finished(places: Iterable[Place], store: Store) -> Iterable[tuple[Place, Result]]:
    """The places whose cells have ended, with their results."""
    return ((place, store.read(place.cell.key)) for place in places if store.has(place.cell.key))


def columns_of(table: Table, task: str) -> list[str]:
    """The columns of a task: one, or one for each of its validation sets."""
    return [column for column in table.columns if task_of(column) == task]


def exit_scores(result: Result, column: str) -> dict[str, float]:
    """The score of each exit."""
    found = of_column(result["scores"], column)
    assert found is not None  # a run is scored on every set of its task
    return {layer: scores["score"] for layer, scores in found["exits"].items()}


def chosen_score(row: Row, exits: Mapping[str, N], depths: Mapping[str, object]) -> N | None:
    """What of a run stands in the row, of one score an exit or of many; `None` without the exit."""
    if row.score == "average":
        return reduce(add, exits.values()) / len(exits)
    if row.score == "last":
        return deepest(exits)
    return exits.get(str(depths[row.score]))
