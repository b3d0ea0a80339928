"""Answers are kept in few characters, and read again as they were."""

import json
from typing import Any

import numpy as np

from exitwise.experiments.answers import Answered, answered, deepest, digits, kept, of_column

MATCHED = Answered(np.array([2, 0, -1]), {"9": np.array([2, 1, 0]), "10": np.array([0, 0, 0])})
OTHER = Answered(np.array([1, 1]), {"9": np.array([1, 2]), "10": np.array([1, 1])})


def stored(sets: dict[str, Answered]) -> dict[str, Any]:
    """As a result file holds it."""
    return json.loads(json.dumps({"scores": {name: {} for name in sets}, **kept(sets)}))


def same(one: Answered, other: Answered) -> bool:
    return np.array_equal(one.labels, other.labels) and all(
        np.array_equal(one.answers[layer], other.answers[layer])
        for layer in one.answers.keys() | other.answers.keys()
    )


def test_every_set_is_read_as_it_was_kept() -> None:
    found = answered(stored({"validation_matched": MATCHED, "validation_mismatched": OTHER}))
    assert list(found) == ["validation_matched", "validation_mismatched"]
    assert same(found["validation_matched"], MATCHED)
    assert same(found["validation_mismatched"], OTHER)


def test_the_first_set_stands_where_it_stands_in_older_results() -> None:
    result = stored({"validation_matched": MATCHED, "validation_mismatched": OTHER})
    assert (result["labels"], result["answers"]["9"]) == ("20.", "210")
    del result["other_sets"]
    (name,) = answered(result)
    assert name == "validation_matched"


def test_a_column_names_its_set() -> None:
    sets = {"validation_matched": "first", "validation_mismatched": "second"}
    assert of_column(sets, "mnli") == "first"
    assert of_column(sets, "mnli:mismatched") == "second"
    assert of_column({"validation_matched": "first"}, "mnli:mismatched") is None


def test_the_last_exit_is_that_of_the_greatest_number() -> None:
    assert deepest(MATCHED.answers) is MATCHED.answers["10"]


def test_answers_are_one_digit_a_row() -> None:
    assert digits(np.array([2, 0, -1, 1])) == "20.1"
