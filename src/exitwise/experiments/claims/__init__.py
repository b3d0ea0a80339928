"""Claims of the paper: a family whose members say which differences should be positive."""

from exitwise.experiments.claims.base import Claim, Outcome, Quantity
from exitwise.experiments.claims.bound import BoundClaim
from exitwise.experiments.claims.count import CountClaim
from exitwise.experiments.claims.greater import GreaterClaim
from exitwise.experiments.claims.most import MostClaim
from exitwise.experiments.claims.order import OrderClaim
from exitwise.experiments.claims.pairing import Pair, Values, task_of
from exitwise.experiments.claims.spread import SpreadClaim

__all__ = [
    "BoundClaim",
    "Claim",
    "CountClaim",
    "GreaterClaim",
    "MostClaim",
    "OrderClaim",
    "Outcome",
    "Pair",
    "Quantity",
    "SpreadClaim",
    "Values",
    "task_of",
]
