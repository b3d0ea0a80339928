"""The gate's decisions on the two gradients, one for each group of parameters."""

import math
import warnings
from collections.abc import Hashable, Mapping, Sequence
from itertools import compress
from typing import NamedTuple, TypeVar

import torch
from jaxtyping import Bool, Float64
from torch import Tensor

from exitwise.gradients.angle import Gradients, angle_of, inner_products
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
    gate: GradientGate,
    reference: Gradients,
    auxiliary: Gradients,
    *,
    is_compared: Sequence[bool],
    may_overflow: Bool[Tensor, ""],
) -> Float64[Tensor, "3"]:
    """The angle, whether the gate is open and whether the contrastive gradient is finite.

    Args:
        gate: what decides.
        reference: the gradient of cross-entropy, one tensor a parameter, `None` for zeros.
        auxiliary: the contrastive gradient.
        is_compared: which parameters the angle is measured on. Finiteness is asked of all.
        may_overflow: whether a gradient that is not finite is a matter of the loss scale. It
            then goes on into `p.grad`, where the scaler finds it, skips the update and lowers
            the scale; dropped here, the scale would stay and the contrast be lost for good.
    """
    chosen = [
        is_one and gate.needs_angle and (gate.parameters != "shared" or None not in (one, two))
        for one, two, is_one in zip(reference, auxiliary, is_compared, strict=True)
    ]
    products = inner_products(_select(reference, chosen), _select(auxiliary, chosen))
    rest = _select(auxiliary, [not is_one for is_one in chosen])
    squared_norm = products[2] + inner_products([None] * len(rest), rest)[2]
    angle, is_finite = angle_of(products), squared_norm.isfinite()
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


def _select(gradients: Gradients, is_selected: Sequence[bool]) -> list[Tensor | None]:
    return list(compress(gradients, is_selected))
