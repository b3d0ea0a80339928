from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from exitwise.data.files import open_table
from exitwise.data.parquet import ROWS_AT_ONCE
from exitwise.errors import DataError

WriteParquet = Callable[[Path, Mapping[str, Sequence[object]]], Path]


def read(path: Path, *columns: str) -> list[list[object]]:
    with open_table(path) as table:
        return [[*record.cells.values()] for record in table.records(columns)]


def test_values_are_read_as_they_would_be_written(
    tmp_path: Path, write_parquet: WriteParquet
) -> None:
    path = write_parquet(
        tmp_path / "a.parquet",
        {
            "text": ["NA", "007", None],
            "count": [1, -1, None],
            "share": [1.0, 0.5, float("nan")],
            "sure": [True, False, None],
            "tags": [["a"], [], None],
        },
    )
    assert read(path, "text", "count", "share", "sure", "tags") == [
        ["NA", "1", "1.0", "true", ["a"]],
        ["007", "-1", "0.5", "false", []],
        [None, None, None, None, None],
    ]


def test_only_the_columns_in_use_are_read(tmp_path: Path, write_parquet: WriteParquet) -> None:
    path = write_parquet(tmp_path / "a.parquet", {"a": ["x"], "b": ["y"]})
    assert read(path, "b") == [["y"]]


def test_rows_are_counted_on_over_the_parts_that_are_read(
    tmp_path: Path, write_parquet: WriteParquet
) -> None:
    texts = [str(row) for row in range(1, 2 * ROWS_AT_ONCE + 2)]
    path = write_parquet(tmp_path / "a.parquet", {"text": texts})
    with open_table(path) as table:
        found = [(str(record.number), record.cells["text"]) for record in table.records(["text"])]
    assert found == list(zip(texts, texts, strict=True))


def test_bytes_are_read_as_text(tmp_path: Path, write_parquet: WriteParquet) -> None:
    path = write_parquet(tmp_path / "a.parquet", {"text": ["caf\u00e9".encode(), b"NA"]})
    assert read(path, "text") == [["caf\u00e9"], ["NA"]]


def test_categories_are_read_as_their_names(tmp_path: Path) -> None:
    column = pyarrow.array(["pos", "neg", "pos"]).dictionary_encode()
    pyarrow.parquet.write_table(pyarrow.table({"label": column}), tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet", "label") == [["pos"], ["neg"], ["pos"]]


def test_bytes_that_are_no_text_are_refused_with_their_rows(tmp_path: Path) -> None:
    raw = pyarrow.array([b"good", b"caf\xe9"]).view(pyarrow.string())
    pyarrow.parquet.write_table(pyarrow.table({"text": raw}), tmp_path / "a.parquet")
    with pytest.raises(
        DataError, match=r"a.parquet, row 2, column 'text': byte 4 .0xe9. is not UTF-8"
    ):
        read(tmp_path / "a.parquet", "text")


def test_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    twice = pyarrow.table([["a"], ["b"]], names=["text", "text"])
    pyarrow.parquet.write_table(twice, tmp_path / "a.parquet")
    with pytest.raises(DataError, match="more than one column 'text'"):
        read(tmp_path / "a.parquet", "text")


def test_a_file_without_rows_or_bytes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"")
    with pytest.raises(DataError, match=r"a.parquet is no Parquet file: .*0 bytes"):
        read(tmp_path / "a.parquet", "text")


def test_a_damaged_file_is_refused_in_a_line(tmp_path: Path, write_parquet: WriteParquet) -> None:
    texts = [f"word {row * 7919 % 1013}" for row in range(5000)]
    path = write_parquet(tmp_path / "a.parquet", {"text": texts})
    content = bytearray(path.read_bytes())
    content[200:260] = b"\xff" * 60
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"cannot read .*a.parquet: ") as raised:
        read(path, "text")
    assert "\n" not in str(raised.value)
