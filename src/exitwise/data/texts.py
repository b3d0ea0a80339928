"""Labelled texts in memory."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

UNLABELLED = -1


@dataclass(frozen=True, kw_only=True)
class TextDataset:
    """Texts, or pairs of texts, with their labels.

    Attributes:
        texts: the texts, or the first of each pair.
        pairs: the second of each pair, if the task has pairs.
        labels: a number for each text; -1 is unlabelled.
        source: where they come from, for messages and results.
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

    def row_hashes(self) -> list[str]:
        """What each row is known by again: of its texts, not of its label."""
        pairs: Sequence[str] = self.pairs or [""] * len(self)
        return [
            hashlib.sha256(f"{text}\0{pair}".encode()).hexdigest()[:16]
            for text, pair in zip(self.texts, pairs, strict=True)
        ]

    def fingerprint(self) -> str:
        """What the whole set is known by again: its rows and labels in their order."""
        rows = zip(self.row_hashes(), self.labels, strict=True)
        return hashlib.sha256(repr(list(rows)).encode()).hexdigest()[:16]


@dataclass(frozen=True, kw_only=True)
class Splits:
    """What a run learns from and is measured on.

    Attributes:
        train: every row labelled.
        validation: one set, or several by name (MNLI).
        test: rows of it may be unlabelled.
        label_names: the classes, in the order of their numbers.
        metric: the official one of the task.
    """

    train: TextDataset
    validation: dict[str, TextDataset]
    test: TextDataset | None
    label_names: tuple[str, ...]
    metric: str
