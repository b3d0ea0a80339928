"""Parquet files as tables."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO

from exitwise.data.tables import Cell, Record, Table, cell
from exitwise.errors import DataError

if TYPE_CHECKING:
    from pyarrow import Scalar
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
        for scalars in zip(*batch.columns, strict=True):
            number += 1
            row = f"{source}, row {number}"
            named = zip(batch.schema.names, scalars, strict=True)
            yield Record(
                number, None, {name: read_cell(scalar, name, row) for name, scalar in named}
            )


def read_cell(scalar: "Scalar", column: str, row: str) -> Cell:
    """A value; bytes, as some programs write texts, are text too."""
    try:
        value = scalar.as_py()
        return cell(value.decode() if isinstance(value, bytes) else value)
    except UnicodeDecodeError as error:
        byte = f"byte {error.start + 1} (0x{error.object[error.start]:02x})"
        raise DataError(
            f"{row}, column {column!r}: {byte} is not UTF-8; write the file anew"
        ) from None
