"""Tables laid over each other."""

import pytest

from exitwise.errors import RecipeError
from exitwise.experiments.merging import filled, merged


def test_what_is_laid_over_does_not_change_its_sources() -> None:
    below = {"regime": {"kind": "exits", "epochs": 1}}
    merged(below, {"regime": {"epochs": 5}})["regime"]["epochs"] = 7  # type: ignore[index]
    assert below == {"regime": {"kind": "exits", "epochs": 1}}


def test_a_table_of_another_kind_keeps_nothing_of_the_first() -> None:
    first = {"regime": {"kind": "joint", "weights": "depth", "epochs": 2}}
    assert merged(first, {"regime": {"kind": "exits", "epochs": 5}}) == {
        "regime": {"kind": "exits", "epochs": 5}
    }


def test_a_text_takes_the_place_of_a_table() -> None:
    assert merged({"exit": {"kind": "mha"}}, {"exit": "linear"}) == {"exit": "linear"}


def test_a_name_that_stands_for_nothing_is_told_with_those_that_do() -> None:
    with pytest.raises(RecipeError, match=r"\$third stands for nothing \(known: \$half\)"):
        filled({"compression": {"keep": ["$third"]}}, {"half": 3})
