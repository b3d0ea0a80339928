"""Labels: from what stands in a column to the numbers of the classes."""

import logging
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from exitwise.data.tables import Record, Table
from exitwise.data.texts import UNLABELLED
from exitwise.errors import DataError

logger = logging.getLogger(__name__)

INTEGER = re.compile(r"[+-]?\d+")
FLOAT = re.compile(r"[+-]?(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][+-]?\d+)?")
LIST = re.compile(r"\[.*\]", re.DOTALL)
ROWS_TO_TELL = 10
"""From so many rows on, a column of which every value occurs once holds no classes."""


@dataclass(frozen=True)
class LabelColumn:
    """The labels of a set of texts as written, `None` where there is none.

    Attributes:
        values: of each row.
        place: where the label of a row stands, for messages.
    """

    values: Sequence[str | None]
    place: Callable[[int], str]

    def first(self, is_sought: Callable[[str | None], bool]) -> str:
        """The place of the first row whose label is such."""
        return self.place(next(i for i, value in enumerate(self.values) if is_sought(value)))


def label_value(table: Table, record: Record, column: str) -> str | None:
    """The label of a row, spaces around it left out; `None` if it is empty or -1.

    Raises:
        DataError: there are several labels.
    """
    found = record.cells.get(column)
    if isinstance(found, list | dict) or (found is not None and LIST.fullmatch(found.strip())):
        raise DataError(
            f"{table.place(record, column)}: found a list of labels; multi-label classification "
            "is not supported, give each row one label"
        )
    label = (found or "").strip()
    if label in ("", str(UNLABELLED)):
        return None
    names = table.class_names.get(column, ())
    return dict(zip(map(str, range(len(names))), names, strict=True)).get(label, label)


def name_classes(labels: LabelColumn, order: Sequence[str] = ()) -> tuple[str, ...]:
    """The classes of training rows: in numeric order if all are integers, else sorted as text.

    Classes in `order`, which a source may give, come first and in that order.

    Raises:
        DataError: a row is unlabelled, there is one class, or there are numbers of no class.
    """
    check_all_labelled(labels)
    check_no_floats(labels)
    names = {value for value in labels.values if value is not None}
    check_classes(labels, len(names))
    given = tuple(name for name in order if name in names)
    return given + sorted_names(names - set(given))


def sorted_names(names: Collection[str]) -> tuple[str, ...]:
    """Integers by their value, other names by their letters.

    >>> sorted_names({"10", "9"}), sorted_names({"pos", "neg"})
    (('9', '10'), ('neg', 'pos'))
    """
    if all(INTEGER.fullmatch(name) for name in names):
        return tuple(sorted(names, key=lambda name: (int(name), name)))
    return tuple(sorted(names))


def number_labels(labels: LabelColumn, names: Sequence[str]) -> tuple[int, ...]:
    """Each row's class, its place among the names; -1 for a row without label.

    Raises:
        DataError: a label is none of the names.
    """
    check_no_floats(labels)
    known = {name: index for index, name in enumerate(names)}
    unknown = {value for value in labels.values if value is not None} - known.keys()
    if unknown:
        where = labels.first(lambda value: value in unknown)
        raise DataError(f"{where}: unknown label {min(unknown)!r}; known are {', '.join(names)}")
    return tuple(UNLABELLED if value is None else known[value] for value in labels.values)


def name_numbers(labels: LabelColumn, names: Sequence[str]) -> LabelColumn:
    """Labels that are whole numbers, by the names that they count from 0, which is logged.

    Labels stay as they are if one is no such number, or if the names are numbers themselves.
    """
    by_number = dict(zip(map(str, range(len(names))), names, strict=True))
    found = {value for value in labels.values if value is not None}
    if not found or not found <= by_number.keys() or any(map(INTEGER.fullmatch, names)):
        return labels
    meaning = ", ".join(f"{number} = {name}" for number, name in by_number.items())
    logger.info("%s: labels are numbers, %s", labels.place(0), meaning)
    return LabelColumn([by_number.get(value or "") for value in labels.values], labels.place)


def check_all_labelled(labels: LabelColumn) -> None:
    """Raises `DataError` with the count of training rows without label."""
    missing = sum(value is None for value in labels.values)
    if missing:
        raise DataError(
            f"{labels.first(lambda value: value is None)}: no label (empty or -1), as in {missing} "
            f"of {len(labels.values)} training rows; leave them out, or give that class a name"
        )


def check_no_floats(labels: LabelColumn) -> None:
    """Raises `DataError` if all labels are numbers and some are not written as integers."""
    found = {value for value in labels.values if value is not None}
    floats = {value for value in found if FLOAT.fullmatch(value)}
    if not floats or not all(value in floats or INTEGER.fullmatch(value) for value in found):
        return
    broken = {value for value in floats if not float(value).is_integer()}
    sought = broken or floats
    value = next(value for value in labels.values if value in sought)
    remedy = (
        "regression is not supported, give each row the name of a class"
        if broken
        else f"write the classes as integers or names, here {int(float(value or 0))}"
    )
    raise DataError(f"{labels.first(lambda other: other == value)}: label {value}; {remedy}")


def check_classes(labels: LabelColumn, num_classes: int) -> None:
    """Raises `DataError` if there is but one class, or one in each row."""
    if num_classes < 2:
        raise DataError(
            f"{labels.place(0)}: all {len(labels.values)} rows have the label "
            f"{labels.values[0]!r}; training needs two classes at least"
        )
    if num_classes == len(labels.values) >= ROWS_TO_TELL:
        raise DataError(
            f"{labels.place(0)}: every row has a label of its own; these are no classes, "
            "name another column with label_column"
        )
