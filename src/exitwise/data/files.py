"""Files as tables: the extension says how they are read, and every value is text."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from exitwise.data.lines import Line, text_lines
from exitwise.data.parquet import parquet_table
from exitwise.data.tables import Record, Table, cell
from exitwise.errors import DataError

LONGEST_FIELD = 2**24
"""Characters of a CSV field; what is longer is a quote that nobody closed."""

Reader = Callable[[Iterator[Line], str], Table]


@contextmanager
def open_table(path: str | Path) -> Iterator[Table]:
    """A file as a table whose rows are read one at a time.

    Raises:
        DataError: there is no such file, its kind is unknown, or it is empty.
    """
    path = Path(path)
    check_file(path)
    try:
        with path.open("rb") as stream:
            yield table_of(stream, path)
    except OSError as error:
        reason = error.strerror or " ".join(str(error).split())
        raise DataError(f"cannot read {path}: {reason}") from error


def check_file(path: Path) -> None:
    """Raises `DataError` unless there is a file of a known kind."""
    kinds = (*TEXT_FORMATS, ".parquet")
    if path.is_dir():
        raise DataError(f"{path} is a folder; name a file in it")
    if not path.exists():
        raise DataError(f"{path} does not exist")
    if path.suffix.lower() not in kinds:
        raise DataError(
            f"{path}: unknown kind of file {path.suffix!r}; known are {', '.join(kinds)}"
        )


def table_of(stream: BinaryIO, path: Path) -> Table:
    """The table in an open file."""
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        return parquet_table(stream, str(path))
    return text_table(text_lines(stream, str(path)), str(path), TEXT_FORMATS[suffix])


def text_table(lines: Iterator[Line], source: str, reader: Reader) -> Table:
    """The table in lines of text."""
    first = next(lines, None)
    if first is None:
        raise DataError(f"{source} is empty")
    return reader(chain([first], lines), source)


def csv_table(lines: Iterator[Line], source: str) -> Table:
    """Values between commas, quoted where they hold commas, quotes or line ends (RFC 4180)."""
    return header_table(csv_rows(lines, source), source)


def tsv_table(lines: Iterator[Line], source: str) -> Table:
    """Values between tabs, one row a line. Quotes are letters as any other.

    GLUE's own files have quotes that open and never close; reading them as CSV does swallows
    rows without a word.
    """
    rows = (
        (number, text.rstrip("\r\n").split("\t")) for number, text in lines if text.strip("\r\n")
    )
    return header_table(rows, source)


def csv_rows(lines: Iterator[Line], source: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file, empty lines left out, each with the line where it begins."""
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_FIELD))
    reader = csv.reader((line.text for line in lines), strict=True)
    begin = 1
    try:
        for row in reader:
            if row:
                yield begin, row
            begin = reader.line_num + 1
    except csv.Error as error:
        raise DataError(
            f"{source}: the row that begins in line {begin} is no CSV ({error}); put quotes "
            "around the whole text and double those inside"
        ) from None


def header_table(rows: Iterator[tuple[int, list[str]]], source: str) -> Table:
    """Rows of fields, the first of which names the columns."""
    _, header = next(rows, (0, []))
    if not header:
        raise DataError(f"{source} is empty")
    columns = tuple(name.strip() for name in header)
    return Table(
        source=source,
        columns=columns,
        records=lambda _: full_rows(rows, columns, source),
    )


def full_rows(
    rows: Iterable[tuple[int, list[str]]], columns: Sequence[str], source: str
) -> Iterator[Record]:
    """The rows under a header, each of which must have all fields and no more."""
    for number, (line, fields) in enumerate(rows, start=1):
        if len(fields) != len(columns):
            raise DataError(
                f"{source}, row {number} (line {line}): {len(fields)} fields under a header of "
                f"{len(columns)} ({', '.join(columns)}); does a text hold a separator?"
            )
        yield Record(number, line, dict(zip(columns, fields, strict=True)))


def json_table(lines: Iterator[Line], source: str) -> Table:
    """One JSON object a line, empty lines left out; the first names the columns."""
    records = json_records(lines, source)
    first = next(records, None)
    if first is None:
        raise DataError(f"{source} is empty")
    return Table(
        source=source, columns=tuple(first.cells), records=lambda _: chain([first], records)
    )


def json_records(lines: Iterator[Line], source: str) -> Iterator[Record]:
    """The objects of a JSONL file. Numbers stay as they are written."""
    written = (line for line in lines if line.text.strip())
    for number, (line, text) in enumerate(written, start=1):
        try:
            found = json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{source}, row {number} (line {line}): no JSON: {error}") from None
        if not isinstance(found, dict):
            raise DataError(f"{source}, row {number} (line {line}): a JSON object is needed")
        yield Record(number, line, {name: cell(value) for name, value in found.items()})


def plain_table(lines: Iterator[Line], source: str) -> Table:
    """One text a line and nothing else, in a column `text`."""
    return Table(
        source=source,
        columns=("text",),
        records=lambda _: (
            Record(number, number, {"text": text.rstrip("\r\n")}) for number, text in lines
        ),
    )


TEXT_FORMATS: dict[str, Reader] = {
    ".csv": csv_table,
    ".tsv": tsv_table,
    ".jsonl": json_table,
    ".txt": plain_table,
}
"""How a file of text is read, by its extension."""
