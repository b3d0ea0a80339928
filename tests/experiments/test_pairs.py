"""One seed's difference of two systems, over the examples that both answered."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exitwise.experiments import Cell, Experiments, Store
from exitwise.experiments.claims import CountClaim, GreaterClaim, OrderClaim, Pair
from exitwise.experiments.intervals import RESAMPLES
from exitwise.experiments.pairs import example_noise, pairs_of
from exitwise.experiments.statistics import resampled_rows
from exitwise.metrics import score

from .made_up import fill, small

SAID = {"text": "it is better", "source": "section 5"}
PAIR = ("ACL", "(e) 2ST")


@pytest.fixture
def experiments() -> Experiments:
    """Table 2, whose rows show the average of the exits, on one task with two seeds."""
    return small("table2", tasks=("rte",))


@pytest.fixture
def store(experiments: Experiments, tmp_path: Path) -> Store:
    """Results with answers that are right more often in deeper layers."""
    store = Store(tmp_path / "small")
    fill(store, experiments)
    for place in experiments.places():
        change(store, place.cell, answer)
    return store


def change(store: Store, cell: Cell, edit: Callable[[dict[str, Any], Cell], None]) -> None:
    path = store.folder / f"{cell.key}.json"
    result = json.loads(path.read_text())
    edit(result, cell)
    path.write_text(json.dumps(result))


def answer(result: dict[str, Any], cell: Cell) -> None:
    random = np.random.default_rng(int(cell.key, 16))
    for layer in result["answers"]:
        is_right = random.random(len(result["labels"])) < 0.5 + 0.07 * int(layer)
        labels = np.array(list(map(int, result["labels"])))
        result["answers"][layer] = "".join(map(str, np.where(is_right, labels, 1 - labels)))


def cells(experiments: Experiments, row: str) -> list[Cell]:
    return [place.cell for place in experiments.places() if place.row.name == row]


def in_loops(first: dict[str, Any], second: dict[str, Any], layers: str) -> tuple[float, float]:
    """The interval of the mean difference of some exits, draw by draw."""
    labels = np.array(list(map(int, first["labels"])))
    found = []
    for rows in resampled_rows(len(labels), resamples=RESAMPLES):
        differences = []
        for layer in layers:
            one, other = (
                score(np.array(list(map(int, each["answers"][layer])))[rows], labels[rows],
                      "f1_accuracy", 2)["score"]
                for each in (first, second)
            )  # fmt: skip
            differences.append(one - other)
        found.append(np.mean(differences))
    low, high = np.percentile(found, [2.5, 97.5])
    return float(low), float(high)


@pytest.mark.parametrize(("shown", "layers"), [("average", "123456"), ("last", "6"), ("half", "3")])
def test_the_difference_is_that_of_what_the_rows_show(
    experiments: Experiments, store: Store, shown: Any, layers: str
) -> None:
    table = experiments.tables["table2"]
    rows = tuple(replace(row, score=shown) for row in table.rows)
    changed = replace(experiments, tables={"table2": replace(table, rows=rows)})
    words = example_noise(changed, "table2", store)[PAIR]
    seeds = [
        in_loops(*(dict(store.read(cell.key)) for cell in pair), layers)
        for pair in zip(*(cells(experiments, row) for row in PAIR), strict=True)
    ]
    half = np.mean([(high - low) / 2 for low, high in seeds])
    inside = sum(low <= 0 <= high for low, high in seeds)
    assert half > 1
    expected = f"rte ± {half:.2f} (0 inside for {inside} of 2 seeds)"
    assert words == f"ACL against (e) 2ST, one seed over its examples: {expected}"


def test_only_seeds_that_both_have_count(experiments: Experiments, store: Store) -> None:
    (store.folder / f"{cells(experiments, 'ACL')[0].key}.json").unlink()
    found = example_noise(experiments, "table2", store)
    assert "of 1 seed)" in found[PAIR]
    assert "of 2 seeds)" in found["(a) CE backbone", "(b) without ACL-CL"]
    (store.folder / f"{cells(experiments, 'ACL')[1].key}.json").unlink()
    assert PAIR not in example_noise(experiments, "table2", store)


def test_systems_that_answered_other_examples_are_not_paired(
    experiments: Experiments, store: Store
) -> None:
    def relabel(result: dict[str, Any], cell: Cell) -> None:
        result["labels"] = result["labels"][::-1]

    change(store, cells(experiments, "ACL")[0], relabel)
    assert "of 1 seed)" in example_noise(experiments, "table2", store)[PAIR]


def test_a_row_whose_exit_a_run_lacks_has_no_pair(experiments: Experiments, store: Store) -> None:
    def cut(result: dict[str, Any], cell: Cell) -> None:
        for part in (result["answers"], result["scores"]["validation"]["exits"]):
            del part["3"]

    table = experiments.tables["table2"]
    rows = tuple(replace(row, score="half") for row in table.rows)
    changed = replace(experiments, tables={"table2": replace(table, rows=rows)})
    for cell in cells(experiments, "ACL"):
        change(store, cell, cut)
    assert PAIR not in example_noise(changed, "table2", store)


def test_a_second_validation_set_is_a_column_of_its_own_where_it_was_kept(
    experiments: Experiments, store: Store
) -> None:
    table = experiments.tables["table2"]
    rows = tuple(replace(row, paper={}) for row in table.rows)
    both = replace(table, rows=rows, columns=("rte", "rte:other"))
    changed = replace(experiments, tables={"table2": both})

    def add(result: dict[str, Any], cell: Cell) -> None:
        result["scores"]["validation_other"] = result["scores"]["validation"]
        if cell.seed == 1:
            part = {"labels": result["labels"], "answers": result["answers"]}
            result["other_sets"] = {"validation_other": part}

    for place in experiments.places():
        change(store, place.cell, add)
    words = example_noise(changed, "table2", store)[PAIR]
    assert "rte ± " in words and "of 2 seeds), rte:other ± " in words
    assert words.endswith("of 1 seed)")


TWO_RIVALS = CountClaim(**SAID, better="a", worse=("b", "c"), at_least=1, of=2)


@pytest.mark.parametrize(
    ("claim", "pairs"),
    [
        (GreaterClaim(**SAID, better="a", worse="b"), [("a", "b")]),
        (TWO_RIVALS, [("a", "b"), ("a", "c")]),
        (GreaterClaim(**SAID, better="a", worse="b", quantity="closed_gates"), []),
        (OrderClaim(**SAID, order=("a", "b", "c")), [("a", "c"), ("a", "b"), ("b", "c")]),
    ],
)
def test_pairs_are_those_of_claims_on_scores(claim: Any, pairs: list[Pair]) -> None:
    assert list(pairs_of(claim)) == pairs
