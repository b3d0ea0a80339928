"""The gate's decisions on the two gradients, one for each group of parameters."""

import math
import warnings
from collections.abc import Hashable, Iterator, Mapping, Sequence
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
    parts = [each.products for each in compared if each.is_part_of_angle]
    angle = angle_of(torch.stack(parts or [torch.zeros_like(products[0])]).sum(dim=0))
    is_finite = products[:, 2].sum().isfinite()
    is_open = gate.is_open(angle, is_finite) | (~is_finite & may_overflow)
    return torch.stack([angle, is_open.double(), is_finite.double()])


class Decisions(Mapping[Key, GateReport]):
    """The decisions of all groups, which stay on their device until somebody reads one.

    To read is the only time that the host waits for the device; all are read at once. Reading
    warns of a contrastive gradient that is dropped because it is not finite.
    """

    def __init__(self, gate: GradientGate, decisions: Mapping[Key, Float64[Tensor, "3"]]) -> None:
        self._gate = gate
        self._decisions = dict(decisions)
        self._reports: dict[Key, GateReport] = {}

    def __getitem__(self, key: Key) -> GateReport:
        if not self._reports:
            rows = torch.stack(list(self._decisions.values())).tolist()
            pairs = zip(self._decisions, rows, strict=True)
            self._reports = {each: self._report(each, *row) for each, row in pairs}
        return self._reports[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._decisions)

    def __len__(self) -> int:
        return len(self._decisions)

    def is_open(self, key: Key) -> Bool[Tensor, ""]:
        """Whether the gate of a group is open, on the device."""
        return self._decisions[key][1].bool()

    @property
    def is_at_hand(self) -> bool:
        """Whether nobody has to wait to read them."""
        return all(each.device.type == "cpu" for each in self._decisions.values())

    def _report(self, key: Key, angle: float, is_open: float, is_finite: float) -> GateReport:
        if not is_finite and not is_open:
            warnings.warn(
                f"dropped a contrastive gradient that is not finite ({key})",
                RuntimeWarning,
                stacklevel=2,
            )
        return GateReport(
            angle=angle,
            is_open=bool(is_open),
            is_undefined=self._gate.needs_angle and math.isnan(angle),
            is_finite=bool(is_finite),
        )
