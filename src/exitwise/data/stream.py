"""Texts to answer, one row at a time, so that a file of any length needs little memory."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from itertools import chain
from pathlib import Path

from exitwise.data.columns import Columns, choose_text_columns
from exitwise.data.files import json_table, open_table, plain_table, text_table
from exitwise.data.lines import Line, text_lines
from exitwise.data.piped import PipedLines
from exitwise.data.rows import TextRow, text_rows
from exitwise.data.tables import Table
from exitwise.errors import DataError

STANDARD_INPUT = "-"


def read_chunks(
    path: str | Path,
    size: int,
    *,
    text_column: str | None = None,
    pair_column: str | None = None,
) -> Iterator[list[TextRow]]:
    """The texts of a file, or of standard input if the path is `-`, `size` at a time in order.

    Of standard input those are given that are there, if fewer. It holds JSON objects if its first
    line begins with a brace, else one text a line. Columns are guessed if not named.

    Raises:
        DataError: a file, a column or a row is not as it should be; said after the rows before it.
    """
    piped = standard_input() if str(path) == STANDARD_INPUT else None
    chunk: list[TextRow] = []
    try:
        with open_table(path) if piped is None else piped_table(piped) as table:
            columns = choose_text_columns(table, text=text_column, pair=pair_column)
            for row, _ in text_rows(table, columns):
                chunk.append(row)
                if len(chunk) == size or (piped is not None and piped.must_wait):
                    yield chunk
                    chunk = []
    except DataError:
        if chunk:
            yield chunk
        raise
    if chunk:
        yield chunk


def count_rows(
    path: str | Path, *, text_column: str | None = None, pair_column: str | None = None
) -> tuple[int, Columns]:
    """How many rows a file has, after a look at each, and the columns that hold their texts.

    Raises:
        DataError: the file, a column or a row is not as it should be.
    """
    with open_table(path) as table:
        columns = choose_text_columns(table, text=text_column, pair=pair_column)
        return sum(1 for _ in text_rows(table, columns)), columns


def standard_input() -> PipedLines:
    """What is piped into the program."""
    stream = sys.stdin.buffer
    assert isinstance(stream, BufferedIOBase)  # typing knows it as any binary stream
    return PipedLines(stream)


@contextmanager
def piped_table(lines: Iterable[bytes]) -> Iterator[Table]:
    """Lines that are piped into the program, as a table."""
    source = "standard input"
    yield text_table(text_lines(lines, source), source, json_or_plain)


def json_or_plain(lines: Iterator[Line], source: str) -> Table:
    """JSON objects or one text a line, as the first line says."""
    first = next(lines)
    reader = json_table if first.text.lstrip().startswith("{") else plain_table
    return reader(chain([first], lines), source)
