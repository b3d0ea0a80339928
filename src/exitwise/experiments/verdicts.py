"""The claims of a table against its results."""

from dataclasses import dataclass

import numpy as np

from exitwise.experiments.claims import Claim, Outcome, Quantity, Values
from exitwise.experiments.plan import Experiments
from exitwise.experiments.scores import (
    Scores,
    columns_of,
    exit_scores,
    finished,
    table_scores,
)
from exitwise.experiments.statistics import Comparison, paired_test, read_together
from exitwise.experiments.store import Result, Store


@dataclass(frozen=True)
class Verdict:
    """A claim, what was found, and a sentence that says so."""

    claim: Claim
    outcome: Outcome
    tests: tuple[Comparison, ...]

    @property
    def sentence(self) -> str:
        """The outcome with its numbers."""
        words = "; ".join(in_words(test) for test in self.tests)
        return f"{self.outcome}: {words or 'nothing was run'}"


def verdicts(experiments: Experiments, name: str, store: Store) -> list[Verdict]:
    """Every claim of a table; p-values are corrected over all its comparisons (Holm)."""
    values: dict[str, Values] = {}
    labelled: list[tuple[int, Comparison]] = []
    claims = experiments.tables[name].claims
    for number, claim in enumerate(claims):
        if claim.quantity not in values:
            values[claim.quantity] = quantity(experiments, name, store, claim.quantity)
        for label, differences in claim.differences(values[claim.quantity]).items():
            labelled.append((number, paired_test(label, differences)))
    tests = read_together([test for _, test in labelled])
    by_claim: list[list[Comparison]] = [[] for _ in claims]
    for (number, _), test in zip(labelled, tests, strict=True):
        by_claim[number].append(test)
    return [
        Verdict(claim, claim.decide(found), tuple(found))
        for claim, found in zip(claims, by_claim, strict=True)
    ]


def quantity(experiments: Experiments, name: str, store: Store, what: Quantity) -> Scores:
    """A quantity by row, column and seed, as far as it is there."""
    if what == "score":
        return table_scores(experiments, name, store)
    table = experiments.tables[name]
    found: Scores = {row.name: {} for row in table.rows}
    for place, result in finished(experiments.places([name]), store):
        key, layers = place.cell.key, experiments.overlay.encoders[place.row.encoder].layers
        for column in columns_of(table, place.cell.task):
            value = (
                share_above_90(store, key)
                if what == "share_above_90"
                else measured(result, column, what, layers)
            )
            if value is not None:
                found[place.row.name].setdefault(column, {})[place.cell.seed] = value
    return found


def share_above_90(store: Store, key: str) -> float | None:
    """Of the angles that were looked up in a finished model."""
    if not store.has(key, "angles"):
        return None
    return 100 * float(np.mean(np.greater(store.read(key, "angles")["angles"], 90)))


def measured(result: Result, column: str, what: Quantity, layers: int) -> float | None:
    """What a result says of a quantity; `None` if it says nothing."""
    if what == "own_label_similarity":
        geometry = result["geometry"]
        found: float | None = geometry[max(geometry, key=int)][what]
        return found
    if what == "closed_gates":
        return closed_gates(result)
    exits = exit_scores(result, column)
    shallow = [score for layer, score in exits.items() if int(layer) <= layers // 2]
    deep = [score for layer, score in exits.items() if int(layer) > layers // 2]
    if not shallow or not deep:
        return None
    mean = float(np.mean(shallow))
    return mean - float(np.mean(deep)) if what == "shallow_gain" else mean


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


def in_words(test: Comparison) -> str:
    """A test in a few words.

    >>> from exitwise.experiments.statistics import Comparison
    >>> in_words(Comparison("a > b", 1.234, 1, None, 1.0, 1.0, None, 1.0))
    'a > b: +1.23 (1 seed: nothing can be said)'
    """
    if test.interval is None:
        return f"{test.label}: {test.difference:+.2f} ({test.num_seeds} seed: nothing can be said)"
    low, high = test.interval
    seen = "" if test.visible is None else f", alone visible from {test.visible:.2f}"
    return (
        f"{test.label}: {test.difference:+.2f} [{low:+.2f}, {high:+.2f}], p {test.p:.3f}, "
        f"Holm {test.adjusted:.3f}, {test.num_seeds} seeds{seen}"
    )
