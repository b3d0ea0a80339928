from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from exitwise.data.tables import Record, Table, cell

MakeTable = Callable[..., Table]


@pytest.fixture
def make_table() -> MakeTable:
    """A factory: columns by name → a table in memory."""

    def make(
        columns: Mapping[str, Sequence[object]],
        class_names: Mapping[str, tuple[str, ...]] | None = None,
    ) -> Table:
        rows = list(zip(*columns.values(), strict=True))

        def records(_: Sequence[str]) -> list[Record]:
            return [
                Record(number, None, dict(zip(columns, map(cell, row), strict=True)))
                for number, row in enumerate(rows, start=1)
            ]

        return Table(
            source="a table",
            columns=tuple(columns),
            records=lambda wanted: iter(records(wanted)),
            class_names=class_names or {},
        )

    return make


@pytest.fixture
def write_parquet() -> Callable[[Path, Mapping[str, Sequence[object]]], Path]:
    def write(path: Path, columns: Mapping[str, Sequence[object]]) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        pyarrow.parquet.write_table(pyarrow.table(dict(columns)), path)
        return path

    return write
