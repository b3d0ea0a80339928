import io
import os
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from exitwise.data import TextRow, count_rows, read_chunks
from exitwise.data.files import text_table
from exitwise.data.lines import Line
from exitwise.data.stream import json_or_plain
from exitwise.errors import DataError


def read_rows(path: str | Path, **columns: str) -> Generator[TextRow, None, None]:
    for chunk in read_chunks(path, 1, **columns):
        yield from chunk


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    def pipe(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return pipe


def test_rows_of_a_file_come_in_order_with_their_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,label\ngood,1\n\nNA,x\n")
    assert list(read_rows(path)) == [TextRow(1, "good", None), TextRow(2, "NA", None)]


def test_pairs_are_read_if_guessed_or_named(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("premise\thypothesis\tnote\na\tb\tc\n")
    assert list(read_rows(path)) == [TextRow(1, "a", "b")]
    named = read_rows(path, text_column="note", pair_column="premise")
    assert list(named) == [TextRow(1, "c", "a")]


def test_parquet_is_read(
    tmp_path: Path, write_parquet: Callable[[Path, Mapping[str, Sequence[object]]], Path]
) -> None:
    path = write_parquet(tmp_path / "a.parquet", {"text": ["good", "bad"], "label": [1, 0]})
    assert list(read_rows(path)) == [TextRow(1, "good", None), TextRow(2, "bad", None)]


def test_standard_input_holds_one_text_a_line(pipe: Callable[[bytes], None]) -> None:
    pipe(b'\xef\xbb\xbfgood, "but" long\r\n[1]\n')
    assert [row.text for row in read_rows("-")] == ['good, "but" long', "[1]"]


def test_standard_input_holds_objects_if_the_first_line_is_one(
    pipe: Callable[[bytes], None],
) -> None:
    pipe(b'{"question": "a?", "sentence": "b"}\n\n{"question": "c?", "sentence": "d"}\n')
    assert list(read_rows("-")) == [TextRow(1, "a?", "b"), TextRow(2, "c?", "d")]


def test_a_fault_in_standard_input_is_named(pipe: Callable[[bytes], None]) -> None:
    pipe(b"good\n\nbad\n")
    with pytest.raises(DataError, match=r"standard input, row 2 \(line 2\).*the text is empty"):
        list(read_rows("-"))
    pipe(b"")
    with pytest.raises(DataError, match="standard input is empty"):
        list(read_rows("-"))


def test_rows_before_a_fault_are_given(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "good"}\n{"text": ""}\n')
    reader = read_rows(path)
    assert next(reader).text == "good"
    with pytest.raises(DataError, match=r"row 2 \(line 2\)"):
        next(reader)


@pytest.mark.parametrize("begin", ['{"text": "row 0"}', "row 0"])
def test_no_more_is_read_ahead_than_a_row_needs(begin: str) -> None:
    taken = []

    def endless() -> Iterator[Line]:
        text = begin
        for number in range(1, 10**9):
            taken.append(number)
            yield Line(number, f"{text}\n")

    records = text_table(endless(), "endless", json_or_plain).records(["text"])
    for expected in range(1, 6):
        assert next(records).number == expected
        assert len(taken) == expected


def test_chunks_are_full_and_those_before_a_fault_are_given(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "good"}\n' * 7 + '{"text": ""}\n')
    found = read_chunks(path, 3)
    numbers = [[row.number for row in next(found)] for _ in range(3)]
    assert numbers == [[1, 2, 3], [4, 5, 6], [7]]
    with pytest.raises(DataError, match="row 8"):
        next(found)


def test_what_is_piped_is_given_as_soon_as_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    hung = threading.Timer(20, os.close, [writing])  # so that a fault fails and does not wait
    hung.start()
    with os.fdopen(reading) as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        os.write(writing, b"one\ntwo\nthr")
        found = read_chunks("-", 100)
        assert [row.text for row in next(found)] == ["one", "two"]
        os.write(writing, b"ee\n")
        assert [row.text for row in next(found)] == ["three"]
        os.write(writing, b"four")
        hung.cancel()
        os.close(writing)
        assert [row.text for row in next(found)] == ["four"]
        assert not list(found)


def test_a_reader_that_is_left_closes_its_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\ntwo\n")
    reader = read_rows(path)
    next(reader)
    reader.close()  # an open file would warn, and warnings are errors
    path.unlink()


def test_rows_are_counted_and_all_of_them_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('sentence1,sentence2,label\n"a\nb",c,1\nd,e,0\n')
    count, columns = count_rows(path)
    assert count == 2
    assert (columns.text, columns.pair) == ("sentence1", "sentence2")
    path.write_text("text\na\n \n")
    with pytest.raises(DataError, match="row 2"):
        count_rows(path)
