"""Columns that a caller holds in memory: texts, pairs and labels, checked before they are used."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from exitwise.errors import ExitwiseError

HALF_PAIR = re.compile("[\ud800-\udfff]")
"""What an escape such as `\\ud83d` alone gives in JSON; no tokenizer takes it."""

HALF_PAIR_FAULT = "half of a surrogate pair, which is no character"
MISSING = ("None", "nan", "NaT", "<NA>")
"""How values are written that are no label; a text of these letters is one."""


def listed(column: object, what: str) -> list[Any]:
    """A list of what a list, an array or a column of a table holds; a lone text stays one.

    Raises:
        ExitwiseError: it is no column, such as a whole table, which gives but its header.
    """
    if isinstance(column, str):
        return [column]
    is_flat = len(getattr(column, "shape", (0,))) == 1
    if isinstance(column, Iterable) and not isinstance(column, Mapping) and is_flat:
        return list(column)
    raise ExitwiseError(
        f"{what} must be a list, an array or one column of a table, such as table['text'], "
        f"found {type(column).__name__}"
    )


def by_name(texts: Sequence[Any], pairs: Sequence[Any] | None) -> dict[str, Sequence[Any]]:
    """The columns of texts that are there."""
    return {"text": texts} if pairs is None else {"text": texts, "pair": pairs}


def check_texts(texts: Sequence[Any], what: str, *, first: int = 1) -> None:
    """Whether these are texts, many of them, of which the first has the number `first`.

    Raises:
        ExitwiseError: the first that is none, by its number.
    """
    if isinstance(texts, str):
        raise ExitwiseError(f"texts must be a list of texts, found a single one: [{texts[:40]!r}]")
    for number, text in enumerate(texts, start=first):
        if not isinstance(text, str):
            raise ExitwiseError(f"{what} {number} must be a string, found {text!r:.60}")
        if HALF_PAIR.search(text):
            raise ExitwiseError(f"{what} {number}: {HALF_PAIR_FAULT}; mend it or leave it out")


def check_as_many(columns: Mapping[str, Sequence[Any]]) -> None:
    """Whether columns, by name, have the same number of rows.

    >>> check_as_many({"text": ["good", "bad"], "label": [1]})
    Traceback (most recent call last):
    ...
    exitwise.errors.ExitwiseError: texts, pairs and labels must be as many,
    found 2 of text, 1 of label
    """
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{length} of {name}" for name, length in lengths.items())
        raise ExitwiseError(f"texts, pairs and labels must be as many, found {found}")


def label_names(labels: Sequence[Any], known: Sequence[str] | None = None) -> list[str]:
    """Labels of any type as the names of classes.

    Raises:
        ExitwiseError: a label is missing, or is none of the `known`, by its number.
    """
    names = [str(label) for label in labels]
    for number, (label, name) in enumerate(zip(labels, names, strict=True), start=1):
        if not isinstance(label, str) and name in MISSING:
            raise ExitwiseError(f"label {number} is missing, found {name}: leave its row out")
        if known is not None and name not in known:
            there = ", ".join(known)
            raise ExitwiseError(f"label {number}: unknown label {name!r}; known are {there}")
    return names
