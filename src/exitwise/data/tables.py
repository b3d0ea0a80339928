"""What all sources of data have in common: named columns, and rows one at a time."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from exitwise.errors import DataError

Cell = str | list[object] | dict[str, object] | None
"""What stands in one row and column: text whatever it says, nothing, or something nested."""


class Record(NamedTuple):
    """A row of a table.

    Attributes:
        number: of the row, from 1, the header not counted.
        line: of the file where the row begins, from 1, if the file has lines.
        cells: by column; a column may be missing in a row of JSON.
    """

    number: int
    line: int | None
    cells: Mapping[str, Cell]


@dataclass(frozen=True, kw_only=True)
class Table:
    """An open source of rows.

    Attributes:
        source: its name in messages.
        columns: the names of its columns.
        records: gives its rows one at a time, once; needs to hold the named columns only.
        class_names: what the whole numbers in a column stand for, where the source says so.
    """

    source: str
    columns: tuple[str, ...]
    records: Callable[[Sequence[str]], Iterator[Record]]
    class_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        twice = [name for name, count in Counter(self.columns).items() if count > 1]
        if twice:
            raise DataError(
                f"{self.source} has more than one column {twice[0]!r}; give each its own name"
            )

    @property
    def listing(self) -> str:
        """Its columns, for a message."""
        return f"(its columns: {', '.join(self.columns)})"

    def place(self, record: Record, column: str) -> str:
        """Where something stands, for a message."""
        line = "" if record.line is None else f" (line {record.line})"
        return f"{self.source}, row {record.number}{line}, column {column!r}"


def cell(value: object) -> Cell:
    """A value of a typed source, such as Parquet, as it would stand in a text file.

    >>> cell(1), cell(True), cell(0.5), cell(float("nan")), cell("NA")
    ('1', 'true', '0.5', None, 'NA')
    """
    if value is None or value != value:  # NaN is how pandas writes a missing value
        return None
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str | list | dict) else str(value)
