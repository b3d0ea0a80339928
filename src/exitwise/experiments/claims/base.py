"""What a claim of the paper is, as data, and what so many seeds say to it."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from exitwise.experiments.claims.pairing import Pair, Values
from exitwise.experiments.statistics import LEVEL, Comparison
from exitwise.registry import Registry

Quantity = Literal[
    "score",
    "layers",
    "shallow",
    "shallow_gain",
    "share_above_90",
    "closed_gates",
    "own_label_similarity",
    "shallow_label_similarity",
]
Outcome = Literal["reproduced", "contradicted", "not decidable with this budget"]
UNDECIDED: Outcome = "not decidable with this budget"


@dataclass(frozen=True, kw_only=True)
class Claim(ABC):
    """A statement about rows of a table.

    Attributes:
        text: what the paper says.
        source: where.
        quantity: what is compared.
            `score`: the score of the table.
            `layers`: the score of every exit, a column each.
            `shallow`: the mean score of the exits up to the middle.
            `shallow_gain`: that less the mean behind it.
            `share_above_90`: the share of batches whose gradients are more than 90° apart in the
            finished model, in percent.
            `closed_gates`: the share of batches whose gate was closed in training, in percent.
            `own_label_similarity`: the mean cosine of samples with their own label embedding at the
            last exit.
            `shallow_label_similarity`: the mean cosine of samples of the exits up to the middle
            with the last exit's embedding of their label.
    """

    registry: ClassVar[Registry["Claim"]] = Registry("claim", suffix="Claim")

    text: str
    source: str
    quantity: Quantity = "score"

    @property
    @abstractmethod
    def rows(self) -> tuple[str, ...]:
        """The rows that it speaks of."""

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """What it compares directly: the row that is said to be better, and the other one."""
        return ()

    @abstractmethod
    def differences(self, values: Values) -> dict[str, list[float]]:
        """What should be positive, by a label that says what it is: one number a seed."""

    def decide(self, tests: Sequence[Comparison]) -> Outcome:
        """Whether it holds, by the tests of its differences, corrected for the whole table.

        By default all must be significantly positive, and one that is significantly negative
        contradicts.
        """
        if any(is_negative(test) for test in tests):
            return "contradicted"
        return "reproduced" if tests and all(map(is_positive, tests)) else UNDECIDED


def is_positive(test: Comparison) -> bool:
    """Whether the difference is significantly above zero."""
    return test.adjusted <= LEVEL and test.difference > 0


def is_negative(test: Comparison) -> bool:
    """Whether the difference is significantly below zero."""
    return test.adjusted <= LEVEL and test.difference < 0
