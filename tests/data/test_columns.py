import logging
from collections.abc import Callable

import pytest

from exitwise.data.columns import Columns, choose_columns, choose_text_columns
from exitwise.data.tables import Table
from exitwise.errors import DataError


@pytest.fixture
def table(make_table: Callable[..., Table]) -> Callable[..., Table]:
    return lambda *names: make_table({name: ["x"] for name in names})


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("text", "label"), Columns("text", None, "label")),
        (("label", "sentence", "idx"), Columns("sentence", None, "label")),
        (("Review", "Sentiment"), Columns("Review", None, "Sentiment")),
        (("", "content", "target"), Columns("content", None, "target")),
        (("sentence1", "sentence2", "label"), Columns("sentence1", "sentence2", "label")),
        (("hypothesis", "premise", "label"), Columns("premise", "hypothesis", "label")),
        (("question", "sentence", "label"), Columns("question", "sentence", "label")),
        (("text", "label", "label_text"), Columns("text", None, "label")),
        (("id", "words", "label"), Columns("words", None, "label")),
        (("text", "intent", "Unnamed: 0"), Columns("text", None, "intent")),
        (("text", "author", "date"), Columns("text")),
    ],
)
def test_columns_are_guessed_by_usual_names(
    table: Callable[..., Table], names: tuple[str, ...], expected: Columns
) -> None:
    assert choose_columns(table(*names)) == expected


def test_columns_that_are_named_are_taken(table: Callable[..., Table]) -> None:
    wide = table("text", "a", "b", "c", "label")
    assert choose_columns(wide, text="a", pair="b", label="c") == Columns("a", "b", "c")
    assert choose_columns(wide, text="a") == Columns("a", None, "label")
    assert choose_columns(wide, pair="b") == Columns("text", "b", "label")
    assert choose_columns(wide, label="c") == Columns("text", None, "c")


def test_a_text_column_that_is_named_alone_has_no_pair(table: Callable[..., Table]) -> None:
    pairs = table("sentence1", "sentence2", "label")
    assert choose_columns(pairs, text="sentence1") == Columns("sentence1", None, "label")


def test_a_label_is_never_guessed_to_be_a_text(table: Callable[..., Table]) -> None:
    assert choose_columns(table("comment", "text"), label="text") == Columns(
        "comment", None, "text"
    )


def test_a_guess_is_logged_and_a_name_is_not(
    table: Callable[..., Table], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "exitwise")
    choose_columns(table("premise", "hypothesis", "label"))
    assert "texts are read from premise and hypothesis" in caplog.text
    assert "labels are read from column 'label'" in caplog.text
    caplog.clear()
    choose_columns(table("text", "label"), text="text", label="label")
    assert caplog.text == ""


def test_texts_alone_need_no_label_column(table: Callable[..., Table]) -> None:
    assert choose_text_columns(table("words")) == Columns("words")
    assert choose_text_columns(table("text", "label")) == Columns("text")
    assert choose_text_columns(table("words", "label")) == Columns("words")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"text": "txt"}, "no column 'txt', did you mean 'text'. .its columns: text, note, label"),
        ({"label": "zzz"}, r"a table has no column 'zzz' \(its columns: text, note, label\)"),
        ({"text": "text", "label": "text"}, "must be different columns, found text, text"),
    ],
)
def test_a_column_that_is_not_there_or_named_twice_is_refused(
    table: Callable[..., Table], given: dict[str, str], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        choose_columns(table("text", "note", "label"), **given)


def test_without_a_good_guess_the_columns_are_listed(table: Callable[..., Table]) -> None:
    with pytest.raises(DataError, match=r"which column holds the texts .*one, two.*text_column"):
        choose_columns(table("one", "two", "label"))
