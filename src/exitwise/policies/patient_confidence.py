"""Leave when several exits in a row are certain."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from exitwise.errors import ExitwiseError
from exitwise.policies.base import Array, ExitPolicy, ThresholdPolicy, namespace
from exitwise.policies.confidence import ConfidencePolicy
from exitwise.policies.entropy import EntropyPolicy

Test = Literal["confidence", "entropy"]
_TESTS: dict[str, type[ThresholdPolicy]] = {
    "confidence": ConfidencePolicy,
    "entropy": EntropyPolicy,
}


@ExitPolicy.registry.register
@dataclass(frozen=True, kw_only=True)
class PatientConfidencePolicy(ThresholdPolicy):
    """Stops when the last `patience` exits have each passed the test; labels need not agree.

    Zhang et al. 2022, PCEE-BERT, https://aclanthology.org/2022.findings-naacl.25.

    Attributes:
        patience: how many exits in a row.
        test: "confidence" or "entropy", against `threshold` as in the policy of that name.
    """

    patience: int
    test: Test = "confidence"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.patience < 1:
            raise ExitwiseError(f"patience must be at least 1, found {self.patience}")
        if self.test not in _TESTS:
            raise ExitwiseError(f"test is confidence or entropy, found {self.test!r}")

    @property
    def high_is_sure(self) -> bool:  # type: ignore[override] # of the single test
        """Whether a row leaves with a score above the threshold."""
        return self.single.high_is_sure

    @property
    def single(self) -> ThresholdPolicy:
        """The policy whose test each exit has to pass."""
        return _TESTS[self.test](threshold=self.threshold, temperatures=self.temperatures)

    def score(self, log_probs: Array) -> Array:
        """That of the single test."""
        return self.single.score(log_probs)

    def lowest_score(self, num_labels: int) -> float:
        """That of the single test."""
        return self.single.lowest_score(num_labels)

    def passes(self, score: Array, threshold: float) -> Array:
        """That of the single test."""
        return self.single.passes(score, threshold)

    def check(self, *, layers: Collection[int], num_labels: int) -> None:
        """Whether there are as many exits as `patience` asks for."""
        super().check(layers=layers, num_labels=num_labels)
        self._check_exits("patience", len(layers), layers)

    def stops(self, log_probs: Array, layers: tuple[int, ...]) -> Array:
        """Whether each of the last exits passes its test."""
        xp = namespace(log_probs)
        if len(layers) < self.patience:
            return xp.zeros(log_probs.shape[1:2], dtype=xp.bool, device=log_probs.device)
        single = self.single
        first = len(layers) - self.patience
        passed = [
            single.tests(log_probs[index, ...], layers[index])
            for index in range(first, len(layers))
        ]
        return xp.all(xp.stack(passed), axis=0)
