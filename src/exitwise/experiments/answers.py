"""What every exit answered on the validation rows, as it is kept in a result.

labels        the true classes of the first validation set
answers       of every exit on it, by layer
other_sets    the same two of each further set, by name; results of a single set may lack it
"""

from collections.abc import Mapping
from typing import NamedTuple, TypeVar

import numpy as np
from jaxtyping import Int
from numpy import ndarray

from exitwise.experiments.store import Result

T = TypeVar("T")


class Answered(NamedTuple):
    """A validation set of n rows.

    Attributes:
        labels: the true classes, -1 where a row has none.
        answers: of every exit, by layer.
    """

    labels: Int[ndarray, " n"]
    answers: dict[str, Int[ndarray, " n"]]

    def labelled(self) -> "Answered":
        """The rows that have a label."""
        rows = np.flatnonzero(self.labels >= 0)
        kept = {layer: answers[rows] for layer, answers in self.answers.items()}
        return Answered(self.labels[rows], kept)


def kept(sets: Mapping[str, Answered]) -> dict[str, object]:
    """As it is written into a result; the first set stands where it stands in all results."""
    written = {
        name: {
            "labels": digits(found.labels),
            "answers": {layer: digits(answers) for layer, answers in found.answers.items()},
        }
        for name, found in sets.items()
    }
    first, *others = written
    return {**written[first], "other_sets": {name: written[name] for name in others}}


def answered(result: Result) -> dict[str, Answered]:
    """The validation sets of which answers are kept, by name; the first one comes first."""
    first = next(iter(result["scores"]))
    return {
        name: Answered(
            labels=numbers(written["labels"]),
            answers={layer: numbers(answers) for layer, answers in written["answers"].items()},
        )
        for name, written in {first: result, **result.get("other_sets", {})}.items()
    }


def of_column(sets: Mapping[str, T], column: str) -> T | None:
    """What belongs to a column of a table: to the first set, or to that behind the colon.

    >>> of_column({"validation_matched": 1, "validation_mismatched": 2}, "mnli:mismatched")
    2
    """
    suffix = column.partition(":")[2]
    return sets.get(f"validation_{suffix}") if suffix else next(iter(sets.values()))


def deepest(exits: Mapping[str, T]) -> T:
    """What belongs to the last exit.

    >>> deepest({"9": "a", "10": "b"})
    'b'
    """
    return exits[max(exits, key=int)]


def digits(values: Int[ndarray, " n"]) -> str:
    """Small numbers as one text; an unlabelled row is a dot.

    >>> digits(np.array([0, 1, -1, 2]))
    '01.2'
    """
    return "".join("." if value < 0 else str(value) for value in values.tolist())


def numbers(written: str) -> Int[ndarray, " n"]:
    """The inverse of `digits`.

    >>> numbers("01.2").tolist()
    [0, 1, -1, 2]
    """
    return np.array([-1 if digit == "." else int(digit) for digit in written])
