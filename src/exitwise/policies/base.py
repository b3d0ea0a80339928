"""What an exit policy is: logits so far in, rows that leave out."""

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
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
            if not 0 < temperature < math.inf:
                raise ExitwiseError(
                    f"the temperature of layer {layer} must be positive and finite, "
                    f"found {temperature}"
                )

    def decide(self, logits: Array, layers: tuple[int, ...]) -> Decision:
        """Decides on rows that have passed the exits at `layers`.

        Args:
            logits: [m, n, k], raw, of the exits so far, from shallow to deep.
            layers: the layers that these exits stand at.
        """
        log_probs = self.log_probabilities(logits, layers)
        return Decision(
            stop=self.stops(log_probs, layers),
            label=self.labels(log_probs),
            probabilities=namespace(log_probs).exp(log_probs[-1, ...]),
        )

    def log_probabilities(self, logits: Array, layers: tuple[int, ...]) -> Array:
        """[m, n, k] in float64, the temperatures applied."""
        xp = namespace(logits)
        exact = xp.astype(logits, xp.float64)
        if len(layers) == 1:  # routing: one exit after the other
            exact = exact * (1.0 / self.temperatures.get(layers[0], 1.0))
        elif self.temperatures:
            scale = [1.0 / self.temperatures.get(layer, 1.0) for layer in layers]
            factors = xp.asarray(scale, dtype=xp.float64, device=exact.device)
            exact = exact * factors[:, None, None]
        return log_softmax(exact)

    @abstractmethod
    def stops(self, log_probs: Array, layers: tuple[int, ...]) -> Array:
        """[n], whether each row leaves at the newest exit."""

    def labels(self, log_probs: Array) -> Array:
        """[n], the label of the newest exit."""
        return namespace(log_probs).argmax(log_probs[-1, ...], axis=-1)

    @abstractmethod
    def variants(
        self, log_probs: Array, layers: tuple[int, ...], *, size: int = 200
    ) -> "list[ExitPolicy]":
        """Policies like this one, from safest to fastest, for a search among them.

        Under the first no row leaves before the last layer, if the kind allows that; under the
        last all leave at the first exit.

        Args:
            log_probs: [m, n, k] of rows like those to come.
            layers: those of the exits.
            size: how many policies at least, where the kind has a continuous setting.
        """

    def check(self, *, layers: Collection[int], num_labels: int) -> None:
        """Whether the policy fits a model.

        Raises:
            ExitwiseError: it names exits that the model lacks, or values that cannot occur.
        """
        self._check_layers("temperatures", self.temperatures, layers)

    def _check_exits(self, name: str, most: int, layers: Collection[int]) -> None:
        """Refuses a setting that asks for more exits than there are: no row would ever leave."""
        if getattr(self, name) > most:
            raise ExitwiseError(
                f"{name} must be at most {most}, since the model has {len(layers)} exits, "
                f"found {getattr(self, name)}"
            )

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

    high_is_sure: ClassVar[bool] = True
    """Whether a row leaves with a score above the threshold or below it."""

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
        return score >= threshold if self.high_is_sure else score <= threshold

    def stops(self, log_probs: Array, layers: tuple[int, ...]) -> Array:
        """Whether the newest exit's score passes its threshold."""
        return self.tests(log_probs[-1, ...], layers[-1])

    def tests(self, log_probs: Array, layer: int) -> Array:
        """[n], whether the rows pass the test of one exit, given its log-probabilities."""
        threshold, score = self.threshold_at(layer), self.score(log_probs)
        if threshold is None:
            xp = namespace(score)
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

    def variants(
        self, log_probs: Array, layers: tuple[int, ...], *, size: int = 200
    ) -> list[ExitPolicy]:
        """All thresholds moved together, from "never" through these to "always".

        Each exit's threshold goes the same share of its way to the strictest or the loosest
        value; the shares are quantiles of those at which the rows' decisions change.
        """
        ends = self.lowest_score(log_probs.shape[-1]), 1.0
        loose, strict = ends if self.high_is_sure else ends[::-1]
        given = {layer: self.threshold_at(layer) for layer in layers[:-1]}
        usual = (loose + strict) / 2  # any number will do if no exit has one
        if all(value is None for value in given.values()):
            given = dict.fromkeys(given, usual)
        shares = [
            _share(self.score(log_probs[depth, ...]), value, loose, strict)
            for depth, value in enumerate(given.values())
            if value is not None
        ]
        policies: list[ExitPolicy] = [replace(self, threshold=None)]
        for share in _quantiles(shares, size):
            moved = {layer: _moved(value, share, loose, strict) for layer, value in given.items()}
            policies.append(replace(self, threshold=moved))
        return policies

    def _check_range(self, lowest: float) -> None:
        given = self.threshold
        values = given.values() if isinstance(given, Mapping) else [given]
        for value in values:
            if value is not None and not lowest <= value <= 1:
                raise ExitwiseError(
                    f"a threshold of {type(self).__name__} is from {lowest:.4g} to 1, or null "
                    f"for never, found {value}"
                )


def namespace(array: Array) -> Any:  # noqa: ANN401 - a module
    """The functions for arrays like this one, by the array API standard.

    numpy follows it by itself; to ask the library would take longer than a decision on one text.
    """
    return np if isinstance(array, np.ndarray) else array_namespace(array)


def log_softmax(logits: Array) -> Array:
    r"""$z - \log \sum_k e^{z_k}$ over the last axis, safe for large logits."""
    xp = namespace(logits)
    if xp is np:  # in two steps instead of six: between two layers, each finds the caches cold
        return logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)
    shifted = logits - xp.max(logits, axis=-1, keepdims=True)
    return shifted - xp.log(xp.sum(xp.exp(shifted), axis=-1, keepdims=True))


def _share(score: Array, threshold: float, loose: float, strict: float) -> Any:  # noqa: ANN401
    """How far scores lie from a threshold (0) to the strict (1) or the loose end (-1)."""
    above = (np.asarray(score) - threshold) * (1 if strict > loose else -1)
    room = np.where(above >= 0, abs(strict - threshold), abs(threshold - loose))
    return np.divide(above, room, out=np.sign(above), where=room > 0)


def _quantiles(shares: list[Any], size: int) -> list[float]:
    """So many of the shares at least, or all, from high to low; the loose end comes last."""
    found = np.unique(np.concatenate([*shares, [-1.0]]))
    if len(found) > size:
        positions = np.linspace(0, len(found) - 1, size).round().astype(int)
        found = found[positions]
    return [float(share) for share in found[::-1]]


def _moved(threshold: Threshold, share: float, loose: float, strict: float) -> Threshold:
    """A threshold moved a share of its way; one that never stops a row stays so."""
    if threshold is None:
        return None
    end = strict if share >= 0 else loose
    inside = threshold + abs(share) * (end - threshold)
    return min(max(inside, min(loose, strict)), max(loose, strict))


def _listed(layers: Collection[int]) -> str:
    return ", ".join(map(str, layers))
