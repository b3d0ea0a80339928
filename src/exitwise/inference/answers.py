"""What an early-exit classifier says of its texts."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from exitwise.policies import ExitPolicy


class Answers(NamedTuple):
    """Of n texts, in the order they were asked.

    Attributes:
        labels: the number of the class that is the answer.
        probabilities: of all classes, by the exit that the text left at.
        layers: the layer of that exit.
        logits: of each exit that the text passed; NaN after it had left.
    """

    labels: Int[ndarray, " n"]
    probabilities: Float[ndarray, "n k"]
    layers: Int[ndarray, " n"]
    logits: Float[ndarray, "m n k"]

    @classmethod
    def unknown(cls, num_exits: int, num_texts: int, num_labels: int) -> "Answers":
        """Room for the answers to come."""
        return cls(
            labels=np.full(num_texts, -1, np.int64),
            probabilities=np.full((num_texts, num_labels), np.nan),
            layers=np.zeros(num_texts, np.int64),
            logits=np.full((num_exits, num_texts, num_labels), np.nan, np.float32),
        )

    def note(
        self,
        policy: ExitPolicy,
        layers: Sequence[int],
        rows: Int[ndarray, " r"],
        newest: Float[ndarray, "r k"],
        log_probs: Float[ndarray, "m r k"],
    ) -> Int[ndarray, " s"]:
        """What the newest exit said, and the answers of the rows that leave there.

        Args:
            policy: says who leaves.
            layers: those of all exits; at the last one all rows leave.
            rows: which texts have come so far.
            newest: the logits of the newest exit.
            log_probs: of the m exits so far.

        Returns:
            Which of the rows go on, by their place among them.
        """
        passed = tuple(layers[: len(log_probs)])
        self.logits[len(passed) - 1, rows] = newest
        if len(passed) == len(layers):
            leaving = np.ones(len(rows), bool)
        else:
            leaving = policy.stops(log_probs, passed)
            if not leaving.any():
                return np.arange(len(rows))
        said, answered = log_probs[:, leaving], rows[leaving]
        self.labels[answered] = policy.labels(said)
        self.probabilities[answered] = np.exp(said[-1])
        self.layers[answered] = passed[-1]
        return np.flatnonzero(~leaving)

    def histogram(self, layers: Sequence[int]) -> dict[int, int]:
        """How many texts left at each layer."""
        return {layer: int((self.layers == layer).sum()) for layer in layers}


def probabilities(logits: Float[ndarray, "*shape k"]) -> Float[ndarray, "*shape k"]:
    """Softmax over the labels.

    >>> probabilities(np.array([[0.0, 0.0]]))
    array([[0.5, 0.5]])
    """
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    result: ndarray = shifted / shifted.sum(axis=-1, keepdims=True)
    return result
