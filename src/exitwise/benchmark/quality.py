"""What a system scores, with the interval that so few rows leave."""

from typing import Any

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from exitwise.benchmark.systems import System
from exitwise.inference.replay import replay
from exitwise.metrics import score

RESAMPLES = 1000


class Quality:
    """The answers of all systems to labelled texts.

    Each engine says its logits once; the policies are replayed on them, since routing gives the
    same answers.

    Args:
        labels: of the texts; -1 has none and is not scored.
        metric: the task's.
        seed: of the intervals.
    """

    def __init__(self, labels: Int[ndarray, " n"], metric: str, *, seed: int = 0) -> None:
        self._labels = labels
        self._metric = metric
        drawn = np.random.default_rng(seed).integers(len(labels), size=(RESAMPLES, len(labels)))
        self._drawn = drawn  # the same redrawn sets for all systems: their differences are paired

    def of(self, system: System, logits: Float[ndarray, "m n k"]) -> dict[str, Any]:
        """Score in percent, its interval of 95 %, the mean layer and where the rows left.

        Args:
            system: who answers.
            logits: of all exits of its engine.
        """
        asked = [system.engine.exit_layers.index(layer) for layer in system.asked]
        answers = replay(system.policy, logits[asked], system.asked)
        found = self._score(answers.labels, self._labels, logits.shape[-1])
        drawn = [
            self._score(answers.labels[rows], self._labels[rows], logits.shape[-1])
            for rows in self._drawn
        ]
        low, high = np.percentile(drawn, [2.5, 97.5])
        return {
            "score": found,
            "interval": [float(low), float(high)],
            "mean_layer": float(answers.layers.mean()),
            "rows_by_layer": {str(k): v for k, v in answers.histogram(system.asked).items()},
            "share_at_last": float((answers.layers == system.asked[-1]).mean()),
        }

    def _score(self, predicted: ndarray, labels: ndarray, num_labels: int) -> float:
        return score(predicted, labels, self._metric, num_labels)["score"]
