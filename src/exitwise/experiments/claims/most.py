"""One system is the best one in most places."""

from dataclasses import dataclass

from exitwise.experiments.claims.base import Claim
from exitwise.experiments.claims.pairing import Values, in_all, shared


@Claim.registry.register
@dataclass(frozen=True, kw_only=True)
class MostClaim(Claim):
    """One system is better than all others in more than half of the columns of a task.

    Made for the quantity `layers`, of which every exit is a column.

    Attributes:
        best: the row.
        others: the other rows.
    """

    best: str
    others: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.others:
            raise ValueError("others needs a row")

    @property
    def rows(self) -> tuple[str, ...]:
        """All of them."""
        return self.best, *self.others

    def differences(self, values: Values) -> dict[str, list[float]]:
        """The share of columns won less that of columns not won, seed by seed; in percent."""
        by_row = [values.get(row, {}) for row in self.rows]
        won: dict[str, dict[int, float]] = {}
        for column in (each for each in by_row[0] if all(each in row for row in by_row)):
            best, *others = (row[column] for row in by_row)
            won[column] = {
                seed: 100.0 if best[seed] > max(other[seed] for other in others) else -100.0
                for seed in in_all([best, *others])
            }
        where = shared({self.best: won}, (self.best,))
        label = where.named(f"{self.best} best, less not best, in percent")
        return {label: [mean for (mean,) in where.means.values()]}
