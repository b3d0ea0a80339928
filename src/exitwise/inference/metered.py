"""An engine that counts what it is asked to compute."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt
from jaxtyping import Float
from numpy import ndarray

from exitwise.inference.engine import Engine
from exitwise.inference.tokens import Encoded


class MeteredEngine(Engine[Any]):
    """Another engine, with the multiply-accumulates of all that ran on it.

    Padding counts as it is: rows times the length of their batch.

    Args:
        engine: what runs.

    Attributes:
        spent: multiply-accumulates so far.
        tokens_begun: tokens that went into the first layer so far, padding among them.
    """

    def __init__(self, engine: Engine[Any]) -> None:
        self.engine = engine
        self.tokens = engine.tokens
        self.labels = engine.labels
        self.exit_layers = engine.exit_layers
        self.spent = 0
        self.tokens_begun = 0

    def windows(
        self, texts: Sequence[Any], pairs: Sequence[Any] | None
    ) -> Iterator[tuple[int, Encoded]]:
        """The engine's."""
        return self.engine.windows(texts, pairs)

    def start(self, encoded: Encoded) -> Any:  # noqa: ANN401 - the engine's state
        """The engine's; embeddings are looked up, not multiplied."""
        return self.engine.start(encoded)

    def run(self, state: Any, *, after: int, to: int) -> tuple[Any, Float[ndarray, "n k"]]:  # noqa: ANN401
        """The engine's, counted."""
        rows, length = self.engine.size(state)
        self.tokens_begun += rows * length if after == 0 else 0
        self.spent += rows * self.engine.macs(after=after, to=to, length=length)
        return self.engine.run(state, after=after, to=to)

    def size(self, state: Any) -> tuple[int, int]:  # noqa: ANN401
        """The engine's."""
        return self.engine.size(state)

    def macs(self, *, after: int, to: int, length: int) -> int:
        """The engine's."""
        return self.engine.macs(after=after, to=to, length=length)

    def keep(self, state: Any, rows: npt.NDArray[Any]) -> Any:  # noqa: ANN401
        """The engine's."""
        return self.engine.keep(state, rows)

    def join(self, states: Sequence[Any]) -> Any:  # noqa: ANN401
        """The engine's."""
        return self.engine.join(states)

    def save_pretrained(self, folder: Path) -> None:
        """The engine's."""
        self.engine.save_pretrained(folder)
