"""What the results of a table's cells say, by row, column and seed."""

from collections.abc import Iterable, Mapping

from exitwise.experiments.answers import deepest, of_column
from exitwise.experiments.plan import Experiments, Place
from exitwise.experiments.store import Result, Store
from exitwise.experiments.table import Row, Table

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
    return [column for column in table.columns if column.partition(":")[0] == task]


def exit_scores(result: Result, column: str) -> dict[str, float]:
    """The score of each exit."""
    found = of_column(result["scores"], column)
    assert found is not None  # a run is scored on every set of its task
    return {layer: scores["score"] for layer, scores in found["exits"].items()}


def chosen_score(
    row: Row, exits: Mapping[str, float], depths: Mapping[str, object]
) -> float | None:
    """What of a run stands in the row; `None` if the run has no such exit."""
    if row.score == "average":
        return sum(exits.values()) / len(exits)
    if row.score == "last":
        return deepest(exits)
    return exits.get(str(depths[row.score]))
