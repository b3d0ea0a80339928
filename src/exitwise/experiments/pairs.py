"""How far the difference of two systems varies over the validation examples of one seed."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from exitwise.experiments.answers import Answered, answered, of_column
from exitwise.experiments.claims import Claim, Pair
from exitwise.experiments.intervals import resampled_scores
from exitwise.experiments.plan import Experiments
from exitwise.experiments.scores import chosen_score, columns_of, finished
from exitwise.experiments.statistics import Interval, percentile_interval
from exitwise.experiments.store import Result, Store
from exitwise.experiments.table import Row


class Drawn(NamedTuple):
    """What stands in a row of a table, on resampled examples.

    Attributes:
        labels: of the examples.
        scores: one a resample.
    """

    labels: Int[ndarray, " n"]
    scores: Float[ndarray, " r"]


DrawnRow = Mapping[str, Mapping[int, Drawn]]
"""By column and seed."""


def example_noise(experiments: Experiments, name: str, store: Store) -> dict[Pair, str]:
    """In words, for each pair that a table's claims compare and that has results."""
    table = experiments.tables[name]
    pairs = list(dict.fromkeys(pair for claim in table.claims for pair in pairs_of(claim)))
    drawn = drawn_rows(experiments, name, store, {row for pair in pairs for row in pair})
    found = {(a, b): paired(table.columns, drawn[a], drawn[b]) for a, b in pairs}
    return {pair: in_words(pair, intervals) for pair, intervals in found.items() if intervals}


def drawn_rows(
    experiments: Experiments, name: str, store: Store, rows: Collection[str]
) -> Mapping[str, DrawnRow]:
    """Some rows of a table; each cell is drawn from once, however many pairs it is in."""
    found: dict[str, dict[str, dict[int, Drawn]]] = {row: {} for row in rows}
    places = (place for place in experiments.places([name]) if place.row.name in rows)
    for place, result in finished(places, store):
        depths = experiments.overlay.encoders[place.row.encoder].variables
        for column in columns_of(experiments.tables[name], place.cell.task):
            examples = of_column(answered(result), column)
            shown = None if examples is None else drawn_cell(place.row, result, examples, depths)
            if shown is not None:
                found[place.row.name].setdefault(column, {})[place.cell.seed] = shown
    return found


def drawn_cell(
    row: Row, result: Result, examples: Answered, depths: Mapping[str, object]
) -> Drawn | None:
    """What stands in a row, draw by draw; `None` if the run has no such exit."""
    scores = chosen_score(row, resampled_scores(result, examples), depths)
    return None if scores is None else Drawn(examples.labels, scores)


def pairs_of(claim: Claim) -> tuple[Pair, ...]:
    """The pairs whose scores a claim compares; other quantities are none of examples."""
    return claim.pairs if claim.quantity == "score" else ()


def paired(columns: Sequence[str], better: DrawnRow, worse: DrawnRow) -> dict[str, list[Interval]]:
    """By column, in their order, the interval of the difference of every seed that both have.

    Both were drawn on the same rows if their examples are the same ones; others are left out.
    """
    found: dict[str, list[Interval]] = {}
    for column in (each for each in columns if each in better and each in worse):
        for seed in sorted(better[column].keys() & worse[column].keys()):
            first, second = better[column][seed], worse[column][seed]
            if np.array_equal(first.labels, second.labels):
                interval = percentile_interval(first.scores - second.scores)
                found.setdefault(column, []).append(interval)
    return found


def in_words(pair: Pair, intervals: Mapping[str, Sequence[Interval]]) -> str:
    """How wide the intervals are, on average over the seeds, and how many hold zero.

    >>> in_words(("ACL", "CE"), {"rte": [(-2.0, 3.0), (0.5, 4.5)]})
    'ACL against CE, one seed over its examples: rte ± 2.25 (0 inside for 1 of 2 seeds)'
    """
    columns = []
    for column, found in intervals.items():
        half = float(np.mean([(high - low) / 2 for low, high in found]))
        inside = sum(low <= 0 <= high for low, high in found)
        seeds = "seed" if len(found) == 1 else "seeds"
        columns.append(f"{column} ± {half:.2f} (0 inside for {inside} of {len(found)} {seeds})")
    return f"{pair[0]} against {pair[1]}, one seed over its examples: {', '.join(columns)}"
