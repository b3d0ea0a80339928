"""Answers to texts: made chunk by chunk, and written as JSONL or CSV."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from exitwise.classifier import EarlyExitClassifier
    from exitwise.data import TextRow

Format = Literal["jsonl", "csv"]
Answer = dict[str, int | float | str]
Write = Callable[[str], object]


def answers(
    classifier: "EarlyExitClassifier", rows: "Sequence[TextRow]", *, keep_text: bool
) -> list[Answer]:
    """The label of each row, its probability, and the layer whose exit says so."""
    texts = [row.text for row in rows]
    pairs = [row.pair for row in rows if row.pair is not None] or None
    found = classifier.answers(texts, pairs)
    names = classifier.classes_.tolist()
    return [
        {
            "row": row.number,
            "label": names[label],
            "probability": round(float(probabilities[label]), 6),
            "layer": int(layer),
        }
        | (texts_of(row) if keep_text else {})
        for row, label, probabilities, layer in zip(
            rows, found.labels, found.probabilities, found.layers, strict=True
        )
    ]


def texts_of(row: "TextRow") -> Answer:
    """What was asked."""
    return {"text": row.text} if row.pair is None else {"text": row.text, "pair": row.pair}


def answers_as(form: Format, chunk: Sequence[Answer], *, is_first: bool) -> str:
    r"""A chunk of answers as text; CSV begins with a header.

    >>> answers_as("jsonl", [{"row": 1, "label": "good"}], is_first=True)
    '{"row": 1, "label": "good"}\n'
    >>> answers_as("csv", [{"row": 1, "label": "good"}], is_first=True)
    'row,label\n1,good\n'
    """
    if form == "jsonl":
        return "".join(json.dumps(answer, ensure_ascii=False) + "\n" for answer in chunk)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(chunk[0]), lineterminator="\n")
    if is_first:
        writer.writeheader()
    writer.writerows(chunk)
    return text.getvalue()


@contextmanager
def new_file(path: Path) -> Iterator[Write]:
    """A text file that appears under its name when it is whole."""
    partial = path.with_name(path.name + ".partial")
    with partial.open("w", encoding="utf-8", newline="") as stream:
        yield stream.write
    partial.replace(path)
