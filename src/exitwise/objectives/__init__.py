"""Objectives: what an exit learns from, as data."""

from exitwise.objectives.aligned import AlignedContrast
from exitwise.objectives.auxiliary import Auxiliary, Contrast
from exitwise.objectives.cross_layer import CrossLayerContrast
from exitwise.objectives.objective import Objective
from exitwise.objectives.soft_targets import SoftTargets
from exitwise.objectives.supervised import SupervisedContrast
from exitwise.objectives.terms import Terms

__all__ = [
    "AlignedContrast",
    "Auxiliary",
    "Contrast",
    "CrossLayerContrast",
    "Objective",
    "SoftTargets",
    "SupervisedContrast",
    "Terms",
]
