"""What claims compare, and the verdicts of a whole table."""

from pathlib import Path

import pytest

from exitwise.experiments import Store
from exitwise.experiments.claims import Quantity
from exitwise.experiments.quantities import quantity
from exitwise.experiments.statistics import holm
from exitwise.experiments.verdicts import verdicts

from .made_up import fill, small


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def test_every_exit_is_a_column(store: Store) -> None:
    experiments = small("figure5", tasks=("mrpc",))
    fill(store, experiments)
    found = quantity(experiments, "figure5", store, "layers")
    assert list(found["ACL"]) == [f"mrpc:{layer}" for layer in range(1, 7)]
    for place in experiments.places(["figure5"]):
        if place.row.name == "ACL":
            exits = store.read(place.cell.key)["scores"]["validation"]["exits"]
            for layer, each in exits.items():
                assert found["ACL"][f"mrpc:{layer}"][place.cell.seed] == each["score"]


@pytest.mark.parametrize("what", ["shallow", "shallow_gain", "shallow_label_similarity"])
def test_shallow_exits_are_those_up_to_the_middle(store: Store, what: Quantity) -> None:
    experiments = small("table2", tasks=("mrpc",), seeds=1)
    fill(store, experiments)
    found = quantity(experiments, "table2", store, what)
    place = next(iter(experiments.places(["table2"])))
    result = store.read(place.cell.key)
    scores = {int(k): each["score"] for k, each in result["scores"]["validation"]["exits"].items()}
    first = sum(scores[layer] for layer in (1, 2, 3)) / 3
    expected = {
        "shallow": first,
        "shallow_gain": first - sum(scores[layer] for layer in (4, 5, 6)) / 3,
        "shallow_label_similarity": sum(
            result["geometry"][layer]["last_label_similarity"] for layer in "123"
        )
        / 3,
    }
    assert found[place.row.name]["mrpc"][1] == pytest.approx(expected[what])


def test_a_result_that_lacks_a_number_has_none(store: Store) -> None:
    """As those have that were written before it was looked up."""
    experiments = small("table2", tasks=("mrpc",), seeds=1)
    fill(store, experiments)
    place = next(iter(experiments.places(["table2"])))
    path = store.folder / f"{place.cell.key}.json"
    path.write_text(path.read_text().replace("last_label_similarity", "something_else"))
    found = quantity(experiments, "table2", store, "shallow_label_similarity")
    assert found[place.row.name] == {}


def test_a_comparison_that_two_claims_make_counts_once_in_the_correction(store: Store) -> None:
    experiments = small("table2", seeds=3)
    fill(store, experiments)
    tests = [test for each in verdicts(experiments, "table2", store) for test in each.tests]
    labels = [test.label for test in tests if test.label == "ACL > (e) 2ST on mrpc, rte"]
    assert len(labels) == 2
    once = {(test.label, test.difference): test for test in tests}
    assert len(once) < len(tests)
    adjusted = holm([test.p for test in once.values()])
    assert [test.adjusted for test in once.values()] == pytest.approx(adjusted)
