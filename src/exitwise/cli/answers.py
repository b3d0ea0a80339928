"""Answers to texts: made chunk by chunk, and written as JSONL or CSV."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TextIO

from exitwise.errors import DataError

if TYPE_CHECKING:
    from exitwise.data import TextRow
    from exitwise.inference import TorchEngine

Format = Literal["jsonl", "csv"]
Answer = dict[str, int | float | str]
Write = Callable[[Sequence[Answer]], None]


def answers(
    engine: "TorchEngine", rows: "Sequence[TextRow]", *, layer: int, keep_text: bool
) -> list[Answer]:
    """The label of each row, its probability, and the layer whose exit says so."""
    from exitwise.inference import probabilities

    texts = [row.text for row in rows]
    pairs = [row.pair for row in rows if row.pair is not None] or None
    found = probabilities(engine.logits(texts, pairs, layers=[layer])[0])  # [n, k]
    return [
        {
            "row": row.number,
            "label": engine.labels[each.argmax()],
            "probability": round(float(each.max()), 6),
            "layer": layer,
        }
        | (texts_of(row) if keep_text else {})
        for row, each in zip(rows, found, strict=True)
    ]


def texts_of(row: "TextRow") -> Answer:
    """What was asked."""
    return {"text": row.text} if row.pair is None else {"text": row.text, "pair": row.pair}


def chunks(rows: "Iterable[TextRow]", size: int) -> "Iterator[list[TextRow]]":
    """So many rows at a time. Those before one that cannot be used come before its error."""
    chunk: list[TextRow] = []
    try:
        for row in rows:
            chunk.append(row)
            if len(chunk) == size:
                yield chunk
                chunk = []
    except DataError:
        if chunk:
            yield chunk
        raise
    if chunk:
        yield chunk


@contextmanager
def new_file(path: Path) -> Iterator[TextIO]:
    """A text file that appears under its name when it is whole."""
    partial = path.with_name(path.name + ".partial")
    with partial.open("w", encoding="utf-8", newline="") as stream:
        yield stream
    partial.replace(path)


def answer_writer(stream: TextIO, form: Format) -> Write:
    """Writes a chunk of answers."""
    return csv_writer(stream) if form == "csv" else jsonl_writer(stream)


def jsonl_writer(stream: TextIO) -> Write:
    """An object a line."""

    def write(chunk: Sequence[Answer]) -> None:
        stream.writelines(json.dumps(answer, ensure_ascii=False) + "\n" for answer in chunk)
        stream.flush()

    return write


def csv_writer(stream: TextIO) -> Write:
    """A header, then a row each."""
    writer: csv.DictWriter[str] | None = None

    def write(chunk: Sequence[Answer]) -> None:
        nonlocal writer
        if writer is None:
            writer = csv.DictWriter(stream, list(chunk[0]), lineterminator="\n")
            writer.writeheader()
        writer.writerows(chunk)
        stream.flush()

    return write
