"""A quantity varies less among some systems than among others."""

from dataclasses import dataclass

import numpy as np

from exitwise.experiments.claims.base import Claim
from exitwise.experiments.claims.pairing import Values, shared


@Claim.registry.register
@dataclass(frozen=True, kw_only=True)
class SpreadClaim(Claim):
    """Among some rows a quantity varies less than among others: the range, seed by seed.

    Attributes:
        less: rows of the smaller range.
        more: rows of the larger one.
    """

    less: tuple[str, ...]
    more: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.less) < 2 or len(self.more) < 2:
            raise ValueError("a range needs at least 2 rows on either side")

    @property
    def rows(self) -> tuple[str, ...]:
        """All of them."""
        return self.less + self.more

    def differences(self, values: Values) -> dict[str, list[float]]:
        """The larger range less the smaller one."""
        where, size = shared(values, self.rows), len(self.less)
        found = [float(np.ptp(m[size:]) - np.ptp(m[:size])) for m in where.means.values()]
        return {where.named("a smaller range"): found}
