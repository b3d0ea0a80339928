"""Columns from memory: all that holds one is taken, all else is refused in clear words."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from exitwise.columns import check_as_many, check_texts, label_names, listed
from exitwise.errors import ExitwiseError

TEXTS = ["good", "bad"]


@pytest.mark.parametrize(
    "column",
    [TEXTS, tuple(TEXTS), np.array(TEXTS), pd.Series(TEXTS, index=[7, 3]), (x for x in TEXTS)],
    ids=["list", "tuple", "array", "series", "generator"],
)
def test_whatever_holds_one_column_is_listed(column: object) -> None:
    assert listed(column, "texts") == TEXTS


def test_a_lone_text_is_one() -> None:
    assert listed("good", "texts") == ["good"]


@pytest.mark.parametrize(
    ("column", "found"),
    [
        (pd.DataFrame({"text": TEXTS, "label": [1, 0]}), "DataFrame"),
        (pd.DataFrame({"text": TEXTS}), "DataFrame"),
        ({"text": TEXTS}, "dict"),
        (np.array([TEXTS]), "ndarray"),
        (np.array("good"), "ndarray"),
        (None, "NoneType"),
        (3, "int"),
    ],
)
def test_what_is_no_column_is_refused_with_the_remedy(column: object, found: str) -> None:
    message = rf"pairs must be .* one column of a table, such as table\['text'\], found {found}"
    with pytest.raises(ExitwiseError, match=message):
        listed(column, "pairs")


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one text", r"a list of texts, found a single one: \['one text'\]"),
        (["good", None], "pair 2 must be a string, found None"),
        (["good", 3.5], r"pair 2 must be a string, found 3\.5"),
        ([b"bad"], "pair 1 must be a string"),
        (["good", "a \ud83d"], "pair 2: half of a surrogate pair, which is no character; mend it"),
    ],
)
def test_what_is_no_text_is_named(texts: Any, message: str) -> None:
    with pytest.raises(ExitwiseError, match=message):
        check_texts(texts, "pair")


def test_columns_of_one_length_are_as_many() -> None:
    check_as_many({"text": TEXTS, "label": np.array([1, 0]).tolist()})


@pytest.mark.parametrize("missing", [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT])
def test_a_missing_label_is_refused_by_its_number(missing: object) -> None:
    with pytest.raises(ExitwiseError, match=r"label 2 is missing, found .*: leave its row out"):
        label_names(["good", missing])


def test_a_name_may_look_like_a_missing_value() -> None:
    assert label_names(["None", "nan", 3, True]) == ["None", "nan", "3", "True"]


def test_a_label_of_no_class_is_refused_by_name() -> None:
    assert label_names([1, "0"], ["0", "1"]) == ["1", "0"]
    with pytest.raises(ExitwiseError, match="label 2: unknown label '1'; known are bad, good"):
        label_names(["bad", 1], ["bad", "good"])
