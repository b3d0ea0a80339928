"""The gate's decisions on the two gradients, one for each group of parameters."""

import math
import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import torch
from jaxtyping import Bool, Float64
from torch import Tensor

from exitwise.gradients.angle import angle_of
from exitwise.gradients.comparison import Compared
from exitwise.gradients.gate import GradientGate

Key = TypeVar("Key", bound=Hashable)


class GateReport(NamedTuple):
    """One decision of the gate.

    Attributes:
        angle: degrees between the two gradients; NaN if undefined or not needed.
        is_open: whether the contrastive gradient is part of the update.
        is_undefined: whether an angle was asked for and there is none.
        is_finite: whether all of the contrastive gradient is finite.
    """

    angle: float
    is_open: bool
    is_undefined: bool
    is_finite: bool


def decide(
    gate: GradientGate, compared: Sequence[Compared], *, may_overflow: Bool[Tensor, ""]
) -> Float64[Tensor, "3"]:
    """The angle, whether the gate is open and whether the contrastive gradient is finite.

    Args:
        gate: what decides.
        compared: the parameters that decide together. Finiteness is asked of all of them.
        may_overflow: whether a gradient that is not finite is a matter of the loss scale. It
            then goes on into `p.grad`, where the scaler finds it, skips the update and lowers
            the scale; dropped here, the scale would stay and the contrast be lost for good.
    """
    products = torch.stack([each.products for each in compared])
    is_part = torch.tensor([[each.is_part_of_angle] for each in compared], device=products.device)
    angle = angle_of(products.where(is_part, 0.0).sum(dim=0))
    is_finite = products[:, 2].sum().isfinite()
    is_open = gate.is_open(angle, is_finite) | (~is_finite & may_overflow)
    return torch.stack([angle, is_open.double(), is_finite.double()])


def read_decisions(
    gate: GradientGate, decisions: Mapping[Key, Float64[Tensor, "3"]]
) -> dict[Key, GateReport]:
    """The decisions of all groups as numbers: the only time that the host waits.

    Warns of a contrastive gradient that is dropped because it is not finite.
    """
    if not decisions:
        return {}
    reports = {}
    rows = torch.stack(list(decisions.values())).tolist()
    for key, (angle, is_open, is_finite) in zip(decisions, rows, strict=True):
        reports[key] = GateReport(
            angle=angle,
            is_open=bool(is_open),
            is_undefined=gate.needs_angle and math.isnan(angle),
            is_finite=bool(is_finite),
        )
        if not is_finite and not is_open:
            warnings.warn(
                f"dropped a contrastive gradient that is not finite ({key})",
                RuntimeWarning,
                stacklevel=2,
            )
    return reports
