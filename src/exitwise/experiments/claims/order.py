"""Systems in the order of their quality."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from exitwise.experiments.claims.base import UNDECIDED, Claim, Outcome, is_negative, is_positive
from exitwise.experiments.claims.pairing import Pair, Values, gaps
from exitwise.experiments.statistics import Comparison


@Claim.registry.register
@dataclass(frozen=True, kw_only=True)
class OrderClaim(Claim):
    """Each system is at least as good as the next one.

    It holds if the first is significantly better than the last and no two neighbours are
    significantly the other way round; other pairs are not looked at. That all neighbours differ
    significantly would be more than the paper's own numbers show.

    Attributes:
        order: the rows, the best first.
    """

    order: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.order) < 2:
            raise ValueError(f"an order needs at least 2 rows, found {list(self.order)}")

    @property
    def rows(self) -> tuple[str, ...]:
        """All of them."""
        return self.order

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The ends first, then the neighbours."""
        ends = (self.order[0], self.order[-1])
        return tuple(dict.fromkeys([ends, *pairwise(self.order)]))

    def differences(self, values: Values) -> dict[str, list[float]]:
        """Of each pair, on the means over tasks."""
        found = {}
        for better, worse in self.pairs:
            where, differences = gaps(values, better, worse)
            found[where.named(f"{better} > {worse}")] = differences
        return found

    def decide(self, tests: Sequence[Comparison]) -> Outcome:
        """By the ends, unless a pair contradicts."""
        if any(map(is_negative, tests)):
            return "contradicted"
        return "reproduced" if is_positive(tests[0]) else UNDECIDED
