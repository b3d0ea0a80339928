import json
from collections.abc import Callable
from pathlib import Path

import pytest

from exitwise.data.files import LONGEST_FIELD, open_table
from exitwise.errors import DataError

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def read(path: Path) -> list[dict[str, object]]:
    with open_table(path) as table:
        return [dict(record.cells) for record in table.records(table.columns)]


def lines_of(path: Path) -> list[tuple[int, int | None]]:
    with open_table(path) as table:
        return [(record.number, record.line) for record in table.records(table.columns)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", 'text,label\r\n"good, and ""short""",1\r\n\r\nNA,0\r\n'),
        ("a.tsv", 'text\tlabel\ngood, and "short"\t1\n\nNA\t0'),
        (
            "a.JSONL",
            '{"text": "good, and \\"short\\"", "label": 1}\n\n{"text": "NA", "label": 0}\n',
        ),
    ],
)
def test_each_kind_of_file_gives_the_same_rows(write: Write, name: str, content: str) -> None:
    rows = [{"text": 'good, and "short"', "label": "1"}, {"text": "NA", "label": "0"}]
    assert read(write(name, content)) == rows
    assert read(write(name, b"\xef\xbb\xbf" + content.encode())) == rows
    assert lines_of(write(name, content))[0] == (1, 1 + (name != "a.JSONL"))
    assert lines_of(write(name, content))[1] == (2, 3 + (name != "a.JSONL"))


def test_a_text_file_has_one_text_a_line_and_nothing_else_ends_it(write: Write) -> None:
    path = write("a.txt", 'text\r\nNA\n"a, b"\tc\nd\u2028e\x0cf\x85g')
    assert [row["text"] for row in read(path)] == ["text", "NA", '"a, b"\tc', "d\u2028e\x0cf\x85g"]


def test_a_quoted_text_may_go_over_lines_and_rows_keep_their_first_line(write: Write) -> None:
    path = write("a.csv", 'text,label\n"one\ntwo",a\nthree,b\n')
    assert [row["text"] for row in read(path)] == ["one\ntwo", "three"]
    assert lines_of(path) == [(1, 2), (2, 4)]


@pytest.mark.field_case(77)
@pytest.mark.parametrize("text", ["NA", "null", "None", "nan", "1e5", "007", "true", "1.0", "-1"])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.txt"])
def test_a_text_stays_as_it_is_written(write: Write, name: str, text: str) -> None:
    content = {
        "a.csv": f"text,label\n{text},x\n",
        "a.tsv": f"text\tlabel\n{text}\tx\n",
        "a.jsonl": json.dumps({"text": text}),
        "a.txt": text,
    }[name]
    assert [row["text"] for row in read(write(name, content))] == [text]


@pytest.mark.field_case(77)
def test_a_number_in_json_stays_as_it_is_written(write: Write) -> None:
    path = write("a.jsonl", '{"text": 1e5}\n{"text": 0.10}\n{"text": NaN}\n{"text": null}\n')
    assert [row["text"] for row in read(path)] == ["1e5", "0.10", "NaN", None]


@pytest.mark.field_case(77)
def test_quotes_in_tsv_are_letters_and_swallow_no_rows(write: Write) -> None:
    path = write("a.tsv", 'text\tlabel\n"He said\t1\nthat" he left\t0\n""x""\t1\n')
    assert [row["text"] for row in read(path)] == ['"He said', 'that" he left', '""x""']


def test_a_long_text_is_read_whole(write: Write) -> None:
    long = "word " * 60_000  # Python's own limit is 131,072 characters
    assert read(write("a.csv", f"text\n{long}\n"))[0]["text"] == long
    assert len(long) < LONGEST_FIELD


@pytest.mark.parametrize(("name", "content"), [("a.csv", "a,b\n,\n"), ("a.tsv", "a\tb\n\t\n")])
def test_a_row_of_empty_fields_is_a_row(write: Write, name: str, content: str) -> None:
    assert read(write(name, content)) == [{"a": "", "b": ""}]


def test_json_rows_may_have_other_keys_than_the_first(write: Write) -> None:
    path = write("a.jsonl", '{"text": "a"}\n{"note": ["b"], "text": "c"}\n')
    assert read(path) == [{"text": "a"}, {"note": ["b"], "text": "c"}]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "a.csv is empty"),
        ("a.csv", b"\n\n", "a.csv is empty"),
        ("a.tsv", b"\n", "a.tsv is empty"),
        ("a.jsonl", b"\n \n", "a.jsonl is empty"),
        ("a.txt", b"", "a.txt is empty"),
        ("a.xlsx", b"x", "unknown kind of file '.xlsx'; known are .csv, .tsv, .jsonl, .txt, .parq"),
        ("a.csv", b"text,text\na,b\n", "a.csv has more than one column 'text'"),
        ("a.csv", b"text,label\na,b\nc,d,e\n", r"a.csv, row 2 \(line 3\): 3 fields under a .* 2"),
        ("a.tsv", b"text\tlabel\n\na\n", r"a.tsv, row 1 \(line 3\): 1 fields under a header of 2"),
        ("a.tsv", b"text\tlabel\na\tb\tc\n", r"a.tsv, row 1 \(line 2\): 3 fields"),
        ("a.jsonl", b"[" * 100_000, r"a.jsonl, row 1 \(line 1\): no JSON"),
        (
            "a.csv",
            b'text,label\na,b\n"c,d\ne,f\n',
            "a.csv: the row that begins in line 3 is no CSV",
        ),
        ("a.csv", b'text,label\n"c"d,e\n', "a.csv: the row that begins in line 2 is no CSV"),
        ("a.jsonl", b'{"text": "a"}\n\n{"text": \n', r"a.jsonl, row 2 \(line 3\): no JSON"),
        ("a.jsonl", b'"text"\n', r"a.jsonl, row 1 \(line 1\): a JSON object is needed"),
        ("a.csv", b"text\nab\ncaf\xe9\n", r"a.csv, line 3: byte 4 \(0xe9\) is not UTF-8; save it"),
        ("a.csv", "text\na\n".encode("utf-16"), "a.csv is written in UTF-16; save it as UTF-8"),
        ("a.txt", "text\na\n".encode("utf-16-le"), "a.txt, line 1: a zero byte"),
        ("a.parquet", b"PAR1 not", "a.parquet is no Parquet file"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_the_place(
    write: Write, name: str, content: bytes, message: str
) -> None:
    with pytest.raises(DataError, match=message) as raised:
        read(write(name, content))
    assert "\n" not in str(raised.value)


def test_a_path_that_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"missing.csv does not exist"):
        read(tmp_path / "missing.csv")
    with pytest.raises(DataError, match="is a folder; name a file in it"):
        read(tmp_path)
