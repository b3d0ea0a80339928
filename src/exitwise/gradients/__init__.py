"""ACL-Grad: the angle of two gradients, the gate, and the backward passes it decides on."""

from exitwise.gradients.angle import gradient_angle
from exitwise.gradients.backward import CEWeight, GatedBackward, gated_backward
from exitwise.gradients.decision import GateReport
from exitwise.gradients.gate import GradientGate
from exitwise.gradients.measure import Measure, unmeasured

__all__ = [
    "CEWeight",
    "GateReport",
    "GatedBackward",
    "GradientGate",
    "Measure",
    "gated_backward",
    "gradient_angle",
    "unmeasured",
]
