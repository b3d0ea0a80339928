"""What an early-exit classifier says of its texts."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from exitwise.policies import Decision, ExitPolicy


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

    def note(self, rows: ndarray, depth: int, layer: int, newest: ndarray, found: Decision) -> None:
        """What the exit at `layer`, the `depth`-th counted from 0, said of some rows."""
        self.logits[depth, rows] = newest
        if not found.stop.any():
            return
        stopped = rows[found.stop]
        self.labels[stopped] = found.label[found.stop]
        self.probabilities[stopped] = found.probabilities[found.stop]
        self.layers[stopped] = layer

    def histogram(self, layers: Sequence[int]) -> dict[int, int]:
        """How many texts left at each layer."""
        return {layer: int((self.layers == layer).sum()) for layer in layers}


def decide(
    policy: ExitPolicy, log_probs: Float[ndarray, "m n k"], layers: Sequence[int], last: int
) -> Decision:
    """The policy's word on rows that have passed the exits at `layers`; at `last` all stop."""
    found = policy.decide_on(log_probs, tuple(layers))
    return found._replace(stop=np.ones_like(found.stop)) if layers[-1] == last else found


def probabilities(logits: Float[ndarray, "*shape k"]) -> Float[ndarray, "*shape k"]:
    """Softmax over the labels.

    >>> probabilities(np.array([[0.0, 0.0]]))
    array([[0.5, 0.5]])
    """
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    result: ndarray = shifted / shifted.sum(axis=-1, keepdims=True)
    return result
