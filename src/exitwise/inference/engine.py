"""What early exit asks of an engine: to run a batch from one exit to the next."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt
from jaxtyping import Float
from numpy import ndarray

from exitwise.columns import by_name, check_as_many
from exitwise.inference.tokens import Encoded, TextTokens

State = TypeVar("State")

WINDOW = 4096
"""Texts that are tokenised and sorted by length at once: bounds the memory."""


class Engine(ABC, Generic[State]):
    """A trained classifier that can be run layer by layer; it has no state between calls.

    A state is a batch between two exits; only the engine looks into it.

    Attributes:
        tokens: from texts to token ids.
        labels: the names of the classes, in their order.
        exit_layers: the layers that have an exit, in ascending order.
        dtype_name: what the products of the layers are computed in, such as "float32" or "int8".
    """

    tokens: TextTokens
    labels: tuple[str, ...]
    exit_layers: tuple[int, ...]
    dtype_name: str

    @abstractmethod
    def start(self, encoded: Encoded) -> State:
        """A batch before layer 1."""

    @abstractmethod
    def run(self, state: State, *, after: int, to: int) -> tuple[State, Float[ndarray, "n k"]]:
        """The layers after the exit at `after` (0 is the start) up to that at `to`, and its logits.

        The exits between the two are not asked.
        """

    @abstractmethod
    def keep(self, state: State, rows: npt.NDArray[np.int64]) -> State:
        """Some rows of a batch, without the padding that none of them needs."""

    @abstractmethod
    def join(self, states: Sequence[State]) -> State:
        """Several batches after the same layer as one."""

    @abstractmethod
    def size(self, state: State) -> tuple[int, int]:
        """Rows and columns of a batch, padding included."""

    @abstractmethod
    def macs(self, *, after: int, to: int, length: int) -> int:
        """Multiply-accumulates of `run` for one row of so many columns."""

    @abstractmethod
    def save_pretrained(self, folder: Path) -> None:
        """Writes the model and its tokenizer where they can be loaded from."""

    def logits(
        self,
        texts: Sequence[Any],
        pairs: Sequence[Any] | None = None,
        *,
        layers: Sequence[int] | None = None,
        batch_size: int = 64,
    ) -> Float[ndarray, "m n k"]:
        """The logits of the exits at `layers`, of all exits if `None`, in the order of the texts.

        The walk ends at the deepest layer asked for. Texts of similar length share a batch.
        """
        chosen = tuple(self.exit_layers if layers is None else layers)
        found = np.zeros((len(chosen), len(texts), len(self.labels)), np.float32)
        for start, encoded in self.windows(texts, pairs):
            for rows in batches(encoded, batch_size):
                state, previous = self.start(encoded.select(rows)), 0
                for layer in sorted(chosen):
                    state, newest = self.run(state, after=previous, to=layer)
                    found[chosen.index(layer), start + rows] = newest
                    previous = layer
        return found

    def windows(
        self, texts: Sequence[Any], pairs: Sequence[Any] | None
    ) -> Iterator[tuple[int, Encoded]]:
        """Texts as token ids, so many at a time, with the number of the first."""
        check_as_many(by_name(texts, pairs))
        for start in range(0, len(texts), WINDOW):
            part = slice(start, start + WINDOW)
            some = None if pairs is None else pairs[part]
            yield start, self.tokens.encode(texts[part], some, first=start + 1)


def batches(encoded: Encoded, size: int) -> Iterator[npt.NDArray[np.int64]]:
    """The rows of texts of similar length, from short to long."""
    order = np.argsort(encoded.lengths, kind="stable")
    for start in range(0, len(order), size):
        yield order[start : start + size]
