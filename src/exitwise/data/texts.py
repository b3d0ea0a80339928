"""Labelled texts in memory, and the sets of a run."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

UNLABELLED = -1


@dataclass(frozen=True, kw_only=True)
class TextDataset:
    """Texts, or pairs of texts, with their labels.

    Attributes:
        texts: the texts, or the first of each pair.
        pairs: the second of each pair, if the task has pairs.
        labels: a number for each text, its place in the label names; -1 is unlabelled.
        source: where they come from, for messages and results; says if they are a subset.
    """

    texts: tuple[str, ...]
    pairs: tuple[str, ...] | None
    labels: tuple[int, ...]
    source: str

    def __len__(self) -> int:
        return len(self.texts)

    def select(self, indices: Sequence[int], *, note: str) -> "TextDataset":
        """Some rows, in the given order; the note says in `source` what they are."""
        return replace(
            self,
            texts=tuple(self.texts[index] for index in indices),
            pairs=None if self.pairs is None else tuple(self.pairs[index] for index in indices),
            labels=tuple(self.labels[index] for index in indices),
            source=f"{self.source} ({note})",
        )

    @cached_property
    def row_hashes(self) -> tuple[str, ...]:
        """What each row is known by again: of its texts, not of its label.

        >>> texts = TextDataset(texts=("good",), pairs=None, labels=(1,), source="two words")
        >>> texts.row_hashes
        ('ed71c300dc1b1f15',)
        """
        columns = [self.texts] if self.pairs is None else [self.texts, self.pairs]
        return tuple(_hash(row) for row in zip(*columns, strict=True))

    @cached_property
    def fingerprint(self) -> str:
        """What the whole set is known by again: its rows and labels in their order."""
        return _hash([self.row_hashes, self.labels])


@dataclass(frozen=True, kw_only=True)
class Splits:
    """What a run learns from and is measured on.

    Attributes:
        train: every row labelled, every class present.
        validation: one set, or several by name (MNLI).
        test: rows of it may be unlabelled.
        label_names: the classes, in the order of their numbers.
        metric: what counts, a name of `exitwise.metrics.Metric`.
    """

    train: TextDataset
    validation: dict[str, TextDataset]
    test: TextDataset | None
    label_names: tuple[str, ...]
    metric: str


def _hash(content: object) -> str:
    # JSON marks where each text ends, so that ("ab", "c") and ("a", "bc") differ.
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]
