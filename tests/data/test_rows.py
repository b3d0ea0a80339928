from collections.abc import Callable

import pytest

from exitwise.data.columns import Columns
from exitwise.data.rows import TextRow, read_labelled, text_rows
from exitwise.data.tables import Table
from exitwise.errors import DataError

COLUMNS = Columns("text", "pair", "label")


@pytest.mark.field_case(77)
def test_texts_stay_as_they_are(make_table: Callable[..., Table]) -> None:
    table = make_table({"text": ["NA", " a "], "pair": ["null", "None"], "label": ["x", "y"]})
    rows = [row for row, _ in text_rows(table, COLUMNS)]
    assert rows == [TextRow(1, "NA", "null"), TextRow(2, " a ", "None")]


@pytest.mark.field_case(77)
@pytest.mark.parametrize(
    ("found", "fault"),
    [
        ("", "the text is empty"),
        (" \t\u3000", "the text is empty"),
        (None, "the text is missing"),
        (float("nan"), "the text is missing"),
        (["a"], "a text is needed, found a list"),
        ({"a": "b"}, "a text is needed, found a table"),
        ("a \ud83d", "half of a surrogate pair"),
    ],
)
def test_what_is_no_text_is_refused_with_row_and_column(
    make_table: Callable[..., Table], found: object, fault: str
) -> None:
    table = make_table({"text": ["a", "b"], "pair": ["c", found], "label": ["x", "y"]})
    with pytest.raises(DataError, match=f"a table, row 2, column 'pair': {fault}"):
        list(text_rows(table, COLUMNS))
    with pytest.raises(DataError, match=f"a table, row 2, column 'pair': {fault}"):
        list(text_rows(table, Columns("pair")))


def test_a_table_becomes_a_set_of_texts(make_table: Callable[..., Table]) -> None:
    table = make_table({"text": ["a", "b"], "pair": ["c", "d"], "label": ["y", -1]})
    texts = read_labelled(table, COLUMNS).dataset(("x", "y"))
    assert (texts.texts, texts.pairs, texts.labels) == (("a", "b"), ("c", "d"), (1, -1))
    assert texts.source == "a table"


@pytest.mark.field_case(55)
def test_without_a_label_column_no_row_has_a_label(make_table: Callable[..., Table]) -> None:
    texts = read_labelled(make_table({"text": ["a", "b"]}), Columns("text")).dataset(("x", "y"))
    assert texts.pairs is None
    assert texts.labels == (-1, -1)


def test_a_fault_of_a_label_names_row_and_column(make_table: Callable[..., Table]) -> None:
    rows = read_labelled(
        make_table({"text": ["a", "b"], "y": ["p", "q"]}), Columns("text", None, "y")
    )
    with pytest.raises(DataError, match="a table, row 2, column 'y': unknown label 'q'"):
        rows.dataset(("p", "r"))


def test_a_table_without_rows_is_refused(make_table: Callable[..., Table]) -> None:
    with pytest.raises(DataError, match="a table has no rows"):
        read_labelled(make_table({"text": []}), Columns("text"))
