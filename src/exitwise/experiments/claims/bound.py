"""A quantity against fixed numbers."""

from dataclasses import dataclass

from exitwise.experiments.claims.base import Claim
from exitwise.experiments.claims.pairing import Values, shared


@Claim.registry.register
@dataclass(frozen=True, kw_only=True)
class BoundClaim(Claim):
    """A quantity lies above a bound, below one, or between both.

    Attributes:
        row: the system.
        above: the lower bound.
        below: the upper bound.
    """

    row: str
    above: float | None = None
    below: float | None = None

    def __post_init__(self) -> None:
        if self.above is None and self.below is None:
            raise ValueError("give a bound: above, below or both")

    @property
    def rows(self) -> tuple[str, ...]:
        """The one."""
        return (self.row,)

    def differences(self, values: Values) -> dict[str, list[float]]:
        """How far the mean over tasks is on the right side of each bound."""
        where = shared(values, self.rows)
        found = [mean for (mean,) in where.means.values()]
        sides = {}
        if self.above is not None:
            label = where.named(f"{self.row} > {self.above:g}")
            sides[label] = [value - self.above for value in found]
        if self.below is not None:
            label = where.named(f"{self.row} < {self.below:g}")
            sides[label] = [self.below - value for value in found]
        return sides
