"""What claims compare, read from the results of a table's cells."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from exitwise.experiments.answers import deepest
from exitwise.experiments.claims import Quantity
from exitwise.experiments.plan import Experiments, Place
from exitwise.experiments.scores import (
    Scores,
    columns_of,
    exit_scores,
    finished,
    table_scores,
)
from exitwise.experiments.store import Result, Store


def quantity(experiments: Experiments, name: str, store: Store, what: Quantity) -> Scores:
    """A quantity by row, column and seed, as far as it is there."""
    if what == "score":
        return table_scores(experiments, name, store)
    table = experiments.tables[name]
    found: Scores = {row.name: {} for row in table.rows}
    for place, result in finished(experiments.places([name]), store):
        middle = experiments.overlay.encoders[place.row.encoder].layers // 2
        for column in columns_of(table, place.cell.task):
            for part, value in values_of(what, place, result, column, middle, store):
                if value is not None:
                    found[place.row.name].setdefault(part, {})[place.cell.seed] = value
    return found


def values_of(
    what: Quantity, place: Place, result: Result, column: str, middle: int, store: Store
) -> Iterator[tuple[str, float | None]]:
    """Columns with the values of one cell; `None` where it says nothing.

    Args:
        what: the quantity.
        place: of the cell.
        result: of the cell.
        column: of the table.
        middle: the last layer that is shallow.
        store: for what was looked up in the model.
    """
    match what:
        case "layers":
            for layer, score in exit_scores(result, column).items():
                yield f"{column}:{layer}", score
        case "shallow" | "shallow_gain":
            yield column, shallow(exit_scores(result, column), middle, gain=what == "shallow_gain")
        case "share_above_90":
            yield column, share_above_90(store, place.cell.key)
        case "closed_gates":
            yield column, closed_gates(result)
        case "own_label_similarity":
            yield column, similarity([deepest(result["geometry"])], "own_label_similarity")
        case "shallow_label_similarity":
            exits = [each for layer, each in result["geometry"].items() if int(layer) <= middle]
            yield column, similarity(exits, "last_label_similarity")


def shallow(exits: dict[str, float], middle: int, *, gain: bool) -> float | None:
    """The mean score up to a layer, or that less the mean behind it."""
    first = [score for layer, score in exits.items() if int(layer) <= middle]
    rest = [score for layer, score in exits.items() if int(layer) > middle]
    if not first or not rest:
        return None
    return float(np.mean(first)) - (float(np.mean(rest)) if gain else 0.0)


def share_above_90(store: Store, key: str) -> float | None:
    """Of the angles that were looked up in a finished model."""
    if not store.has(key, "angles"):
        return None
    return 100 * float(np.mean(np.greater(store.read(key, "angles")["angles"], 90)))


def closed_gates(result: Result) -> float | None:
    """Over all stages and exits that had a gate with an angle."""
    groups = [
        group
        for stage in result["gates"].values()
        for group in stage.values()
        if group["mean_angle"] is not None
    ]
    total = sum(group["decisions"] for group in groups)
    if not total:
        return None
    opened = sum(group["decisions"] * group["share_open"] for group in groups)
    return float(100 * (1 - opened / total))


def similarity(exits: Sequence[Mapping[str, float | None]], name: str) -> float | None:
    """The mean of a cosine over some exits, if all have it."""
    found = [value for each in exits if (value := each.get(name)) is not None]
    return float(np.mean(found)) if found and len(found) == len(exits) else None
