"""Rows of a table as texts, checked one by one, and all of them with their labels."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from exitwise.columns import HALF_PAIR, HALF_PAIR_FAULT
from exitwise.data.columns import Columns
from exitwise.data.labels import LabelColumn, label_value, number_labels
from exitwise.data.tables import Cell, Record, Table
from exitwise.data.texts import UNLABELLED, TextDataset
from exitwise.errors import DataError


class TextRow(NamedTuple):
    """A text, or a pair of texts, as it was read.

    Attributes:
        number: of the row, from 1, a header not counted.
        text: the text, or the first of the pair.
        pair: the second of the pair, if there are pairs.
    """

    number: int
    text: str
    pair: str | None


@dataclass(frozen=True, kw_only=True)
class LabelledRows:
    """All rows of a table, labels as written; `labels` is `None` without a label column."""

    source: str
    texts: tuple[str, ...]
    pairs: tuple[str, ...] | None
    labels: LabelColumn | None

    def dataset(self, label_names: tuple[str, ...]) -> TextDataset:
        """The same with numbers as labels, -1 for those without."""
        unlabelled = (UNLABELLED,) * len(self.texts)
        return TextDataset(
            texts=self.texts,
            pairs=self.pairs,
            labels=unlabelled if self.labels is None else number_labels(self.labels, label_names),
            source=self.source,
        )


def read_labelled(table: Table, columns: Columns) -> LabelledRows:
    """Reads a table to its end.

    Raises:
        DataError: it has no rows, or a row is not as it should be.
    """
    rows, values, places = [], [], []
    for row, record in text_rows(table, columns):
        rows.append(row)
        if columns.label is not None:
            values.append(label_value(table, record, columns.label))
            places.append(record._replace(cells={}))
    if not rows:
        raise DataError(f"{table.source} has no rows")
    label = columns.label
    return LabelledRows(
        source=table.source,
        texts=tuple(row.text for row in rows),
        pairs=None if columns.pair is None else tuple(row.pair or "" for row in rows),
        labels=None
        if label is None
        else LabelColumn(tuple(values), lambda row: table.place(places[row], label)),
    )


def text_rows(table: Table, columns: Columns) -> Iterator[tuple[TextRow, Record]]:
    """Each row's texts, and the record that they stand in.

    Raises:
        DataError: a text is missing, empty or no text.
    """
    for record in table.records(columns.names):
        text = checked_text(table, record, columns.text)
        pair = None if columns.pair is None else checked_text(table, record, columns.pair)
        yield TextRow(record.number, text, pair), record


def checked_text(table: Table, record: Record, column: str) -> str:
    """The text of a row, untouched: `NA`, `null` and `None` are texts as any other."""
    found = record.cells.get(column)
    fault = _fault(found)
    if fault is None:
        assert isinstance(found, str)
        return found
    raise DataError(f"{table.place(record, column)}: {fault}; mend the row or leave it out")


def _fault(found: Cell) -> str | None:
    if found is None:
        return "the text is missing"
    if not isinstance(found, str):
        return f"a text is needed, found a {'list' if isinstance(found, list) else 'table'}"
    if not found.strip():
        return "the text is empty"
    if HALF_PAIR.search(found):
        return HALF_PAIR_FAULT
    return None
