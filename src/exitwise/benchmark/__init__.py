"""Whether early exit pays: quality and time of every system that a run offers, and a verdict."""

from exitwise.benchmark.compare import compare
from exitwise.benchmark.systems import System, calibrated_policy, engines_of

__all__ = ["System", "calibrated_policy", "compare", "engines_of"]
