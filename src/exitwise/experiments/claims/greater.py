"""One system is better than another."""

from dataclasses import dataclass

from exitwise.experiments.claims.base import Claim
from exitwise.experiments.claims.pairing import Pair, Values, gaps


@Claim.registry.register
@dataclass(frozen=True, kw_only=True)
class GreaterClaim(Claim):
    """One system is better than another, or comparable with it; see `shared` for the tasks.

    Attributes:
        better: the row.
        worse: the other row.
        margin: what "comparable" grants the first one, in points.
    """

    better: str
    worse: str
    margin: float = 0.0

    def __post_init__(self) -> None:
        if not self.margin >= 0:
            raise ValueError(f"margin must be 0 or more, found {self.margin}")

    @property
    def rows(self) -> tuple[str, ...]:
        """Both."""
        return self.better, self.worse

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The one."""
        return ((self.better, self.worse),)

    def differences(self, values: Values) -> dict[str, list[float]]:
        """Of the means over tasks."""
        where, found = gaps(values, self.better, self.worse)
        granted = f" - {self.margin:g}" if self.margin else ""
        label = where.named(f"{self.better} > {self.worse}{granted}")
        return {label: [gap + self.margin for gap in found]}
