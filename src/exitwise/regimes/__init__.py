"""Regimes: plans for training a multi-exit encoder, as data."""

from exitwise.regimes.alternating import AlternatingRegime
from exitwise.regimes.exits import ExitsRegime
from exitwise.regimes.joint import JointRegime
from exitwise.regimes.single_exit import SingleExitRegime
from exitwise.regimes.stage import OneStageRegime, Regime, Stage, Unit
from exitwise.regimes.two_stage import TwoStageRegime

__all__ = [
    "AlternatingRegime",
    "ExitsRegime",
    "JointRegime",
    "OneStageRegime",
    "Regime",
    "SingleExitRegime",
    "Stage",
    "TwoStageRegime",
    "Unit",
]
