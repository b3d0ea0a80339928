"""What an exit policy is: logits so far in, rows that leave out."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from array_api_compat import array_namespace

from exitwise.errors import ExitwiseError
from exitwise.registry import Registry

Array = Any
"""Of numpy or torch: policies are written once, by the array API standard."""

Threshold = float | None
"""`None` never stops a row."""


class Decision(NamedTuple):
    """What becomes of the rows that are still running.

    Attributes:
        stop: [n], whether a row leaves now.
        label: [n], the answer of each row, if it left now.
        probabilities: [n, k], of the newest exit.
    """

    stop: Array
    label: Array
    probabilities: Array


@dataclass(frozen=True, kw_only=True)
class ExitPolicy(ABC):
    r"""Says which rows stop at the newest exit; at the last layer the engine stops the rest.

    A policy has no state between calls: it sees the logits of all exits so far, and a row's
    answer does not depend on its neighbours. It works in float64, so that logits of ±1e4 are
    as good as any others.

    Attributes:
        temperatures: $T_m$ by layer, 1 where there is none; an exit's probabilities are
            $\mathrm{softmax}(z_m / T_m)$.
    """

    registry: ClassVar[Registry["ExitPolicy"]] = Registry("policy", suffix="Policy")

    temperatures: Mapping[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for layer, temperature in self.temperatures.items():
            if not temperature > 0:
                raise ExitwiseError(
                    f"the temperature of layer {layer} must be positive, found {temperature}"
                )

    def decide(self, logits: Array, layers: tuple[int, ...]) -> Decision:
        """Decides on rows that have passed the exits at `layers`.

        Args:
            logits: [m, n, k], raw, of the exits so far, from shallow to deep.
            layers: the layers that these exits stand at.
        """
        xp = array_namespace(logits)
        log_probs = self.log_probabilities(logits, layers)
        return Decision(
            stop=self.stops(log_probs, layers),
            label=self.labels(log_probs),
            probabilities=xp.exp(log_probs[-1, ...]),
        )

    def log_probabilities(self, logits: Array, layers: tuple[int, ...]) -> Array:
        """[m, n, k] in float64, the temperatures applied."""
        xp = array_namespace(logits)
        scale = [1.0 / self.temperatures.get(layer, 1.0) for layer in layers]
        exact = xp.astype(logits, xp.float64)
        factors = xp.asarray(scale, dtype=xp.float64, device=exact.device)
        return log_softmax(exact * factors[:, None, None])

    @abstractmethod
    def stops(self, log_probs: Array, layers: tuple[int, ...]) -> Array:
        """[n], whether each row leaves at the newest exit."""

    def labels(self, log_probs: Array) -> Array:
        """[n], the label of the newest exit."""
        return array_namespace(log_probs).argmax(log_probs[-1, ...], axis=-1)

    def check(self, *, layers: Collection[int], num_labels: int) -> None:
        """Whether the policy fits a model.

        Raises:
            ExitwiseError: it names exits that the model lacks, or values that cannot occur.
        """
        self._check_layers("temperatures", self.temperatures, layers)

    def _check_layers(self, what: str, named: Collection[int], layers: Collection[int]) -> None:
        missing = sorted(set(named) - set(layers))
        if missing:
            raise ExitwiseError(
                f"the policy has {what} for the layers {_listed(missing)}, the model has exits "
                f"at {_listed(sorted(layers))}: calibrate it for this model"
            )


@dataclass(frozen=True, kw_only=True)
class ThresholdPolicy(ExitPolicy):
    """A score of the newest exit against a threshold.

    Attributes:
        threshold: one for all exits, or one a layer; a layer without one never stops a row.
    """

    lowest: ClassVar[float] = 0.0
    """The least value that a score can have; of confidence, 1 / K."""

    threshold: Threshold | Mapping[int, Threshold]

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_range(self.lowest)

    def threshold_at(self, layer: int) -> Threshold:
        """The threshold of a layer."""
        if isinstance(self.threshold, Mapping):
            return self.threshold.get(layer)
        return self.threshold

    @abstractmethod
    def score(self, log_probs: Array) -> Array:
        """[..., n] of log-probabilities [..., n, k]."""

    def passes(self, score: Array, threshold: float) -> Array:
        """Whether scores are good enough to leave with."""
        return score >= threshold

    def stops(self, log_probs: Array, layers: tuple[int, ...]) -> Array:
        """Whether the newest exit's score passes its threshold."""
        return self.tests(log_probs[-1, ...], layers[-1])

    def tests(self, log_probs: Array, layer: int) -> Array:
        """[n], whether the rows pass the test of one exit, given its log-probabilities."""
        threshold, score = self.threshold_at(layer), self.score(log_probs)
        if threshold is None:
            xp = array_namespace(score)
            return xp.zeros(score.shape, dtype=xp.bool, device=score.device)
        return self.passes(score, threshold)

    def check(self, *, layers: Collection[int], num_labels: int) -> None:
        """Whether exits and thresholds can occur in a model."""
        super().check(layers=layers, num_labels=num_labels)
        if isinstance(self.threshold, Mapping):
            self._check_layers("thresholds", self.threshold, layers)
        self._check_range(self.lowest_score(num_labels))

    def lowest_score(self, num_labels: int) -> float:
        """The least value that a score can have with so many labels."""
        return self.lowest

    def _check_range(self, lowest: float) -> None:
        given = self.threshold
        values = given.values() if isinstance(given, Mapping) else [given]
        for value in values:
            if value is not None and not lowest <= value <= 1:
                raise ExitwiseError(
                    f"a threshold of {type(self).__name__} is from {lowest:.4g} to 1, or null "
                    f"for never, found {value}"
                )


def log_softmax(logits: Array) -> Array:
    r"""$z - \log \sum_k e^{z_k}$ over the last axis, safe for large logits."""
    xp = array_namespace(logits)
    shifted = logits - xp.max(logits, axis=-1, keepdims=True)
    return shifted - xp.log(xp.sum(xp.exp(shifted), axis=-1, keepdims=True))


def _listed(layers: Collection[int]) -> str:
    return ", ".join(map(str, layers))
