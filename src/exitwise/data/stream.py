"""Texts to answer, one row at a time, so that a file of any length needs little memory."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from exitwise.data.columns import choose_text_columns
from exitwise.data.files import json_table, open_table, plain_table, text_table
from exitwise.data.lines import Line, text_lines
from exitwise.data.rows import TextRow, text_rows
from exitwise.data.tables import Table

STANDARD_INPUT = "-"


def read_rows(
    path: str | Path, *, text_column: str | None = None, pair_column: str | None = None
) -> Iterator[TextRow]:
    """The texts of a file, or of standard input if the path is `-`, in their order.

    Standard input holds JSON objects if its first line begins with a brace, else one text a
    line. Columns are guessed if not named.

    Raises:
        DataError: a file, a column or a row is not as it should be; said when it is reached.
    """
    opened = open_standard_input() if str(path) == STANDARD_INPUT else open_table(path)
    with opened as table:
        columns = choose_text_columns(table, text=text_column, pair=pair_column)
        for row, _ in text_rows(table, columns):
            yield row


@contextmanager
def open_standard_input() -> Iterator[Table]:
    """What is piped into the program, as a table."""
    source = "standard input"
    lines = text_lines(sys.stdin.buffer, source)
    yield text_table(lines, source, json_or_plain)


def json_or_plain(lines: Iterator[Line], source: str) -> Table:
    """JSON objects or one text a line, as the first line says."""
    first = next(lines)
    reader = json_table if first.text.lstrip().startswith("{") else plain_table
    return reader(chain([first], lines), source)
