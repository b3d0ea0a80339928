"""Parquet files as tables."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO

from exitwise.data.tables import Record, Table, cell
from exitwise.errors import DataError

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

ROWS_AT_ONCE = 1024


def parquet_table(stream: BinaryIO, source: str) -> Table:
    """The table in a Parquet file; only the columns in use are read, some rows at a time."""
    import pyarrow
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(stream)
    except pyarrow.ArrowException as error:
        raise DataError(f"{source} is no Parquet file: {error}") from None
    return Table(
        source=source,
        columns=tuple(file.schema_arrow.names),
        records=lambda columns: parquet_records(file, columns, source),
    )


def parquet_records(file: "ParquetFile", columns: Sequence[str], source: str) -> Iterator[Record]:
    """The rows, counted from 1."""
    number = 0
    for batch in file.iter_batches(batch_size=ROWS_AT_ONCE, columns=list(columns)):
        try:
            rows = batch.to_pylist()
        except UnicodeDecodeError as error:
            raise DataError(
                f"{source}, rows {number + 1} to {number + len(batch)}: a text is not UTF-8 "
                f"({error.reason}); write the file anew"
            ) from None
        for row in rows:
            number += 1
            yield Record(number, None, {name: cell(value) for name, value in row.items()})
