"""The gate of ACL-Grad, as data."""

from dataclasses import dataclass
from typing import Literal, get_args

import torch
from jaxtyping import Bool, Float64
from torch import Tensor

from exitwise.bounds import check_at_least

OnUndefined = Literal["keep", "drop"]
CEWeightWhenClosed = Literal["substitute", "fixed"]
ComparedParameters = Literal["all", "shared", "encoder", "exit"]
Every = Literal["forward", "update"]
CompareWith = Literal["ce", "ce_and_soft_targets"]
Shortcut = Literal["none", "last_layers", "representation"]

ROUNDING = 1e-9  # degrees: the arc cosine of 45° comes out as 45.00000000000001


@dataclass(frozen=True, kw_only=True)
class GradientGate:
    r"""Drops the contrastive loss of a batch whose gradient points away from cross-entropy's.

    $$\lambda' = \lambda \text{ if } \gamma \le \gamma_{thres}, \text{ else } 0$$

    (ACL-Grad in the paper). A contrastive gradient that is not finite is always dropped.

    Attributes:
        max_angle: $\gamma_{thres}$ in degrees; an angle that equals it is kept. From 180 on no
            angle is computed, and only a gradient that is not finite is dropped.
        on_undefined: what happens if one of the gradients is zero, so that there is no angle.
            "keep" by default: no conflict was seen.
        ce_weight_when_closed: the weight of cross-entropy in a dropped batch: "substitute"
            puts $\lambda' = 0$ into $1 - \lambda'$, the literal reading, so that the batch is
            one of plain fine-tuning; "fixed" leaves $1 - \lambda$.
        parameters: what the gradients are compared on: "all" trained parameters (the paper's
            $\Theta$), those "shared", i.e. reached by both losses, the "encoder" or the "exit".
        every: one decision for each "forward" pass (the paper's mini-batch) or for each
            "update", on the accumulated gradients.
        compare_with: the gradient of cross-entropy, or of cross-entropy and soft targets.
        shortcut: not the paper's. "last_layers" and "representation" (the exit's embedding
            $h^e$) compare the gradients on these alone, before one backward pass of the
            combined loss: cheaper, and not always the exact gate's decision.
        last_layers: how many layers of the encoder the shortcut of that name looks at, besides
            the exits.
        interval: not the paper's. Decide on every k-th forward pass; until the next time the
            decision stands, and there is one backward pass of the combined loss.
    """

    max_angle: float = 90.0
    on_undefined: OnUndefined = "keep"
    ce_weight_when_closed: CEWeightWhenClosed = "substitute"
    parameters: ComparedParameters = "all"
    every: Every = "forward"
    compare_with: CompareWith = "ce"
    shortcut: Shortcut = "none"
    last_layers: int = 1
    interval: int = 1

    def __post_init__(self) -> None:
        if not self.max_angle >= 0:
            raise ValueError(f"max_angle must be at least 0 degrees, found {self.max_angle}")
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                raise ValueError(f"{name} must be one of {', '.join(choices)}, found {value!r}")
        check_at_least(1, self, "last_layers", "interval")
        if not self.is_exact and self.every == "update":
            raise ValueError("a shortcut or an interval decides by forward pass, not by update")
        if self.shortcut != "none" and self.parameters != "all":
            raise ValueError(f"the shortcut {self.shortcut!r} says itself what is compared")

    @property
    def is_exact(self) -> bool:
        """Whether each forward pass has its own decision on the gradients themselves."""
        return self.shortcut == "none" and self.interval == 1

    @property
    def needs_angle(self) -> bool:
        """Whether the decision depends on the angle at all."""
        return self.max_angle < 180

    def is_open(self, angle: Float64[Tensor, ""], is_finite: Bool[Tensor, ""]) -> Bool[Tensor, ""]:
        r"""The decision for a batch, of the angle and the finiteness of the contrastive gradient.

        Angles are compared, not cosines: $\cos 90°$ is 6e-17 in float64, so that exactly
        orthogonal gradients would be dropped.

        >>> GradientGate().is_open(torch.tensor(90.0).double(), torch.tensor(True))
        tensor(True)
        """
        if not self.needs_angle:
            return is_finite
        agrees = angle <= self.max_angle + ROUNDING  # False for NaN
        if self.on_undefined == "keep":
            agrees = agrees | angle.isnan()
        return torch.logical_and(agrees, is_finite)


_CHOICES = {
    "on_undefined": get_args(OnUndefined),
    "ce_weight_when_closed": get_args(CEWeightWhenClosed),
    "parameters": get_args(ComparedParameters),
    "every": get_args(Every),
    "compare_with": get_args(CompareWith),
    "shortcut": get_args(Shortcut),
}
