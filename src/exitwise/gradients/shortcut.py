"""A decision before the backward pass, on a few tensors: cheaper, and not always the exact one."""

from collections.abc import Hashable, Sequence
from typing import TypeVar

import torch
from torch import Tensor

from exitwise.gradients.angle import Gradients, inner_products
from exitwise.gradients.comparison import Compared
from exitwise.gradients.decision import Decisions, decide
from exitwise.gradients.gate import GradientGate

Key = TypeVar("Key", bound=Hashable)


def decide_beforehand(
    key: Key,
    gate: GradientGate,
    reference: Tensor,
    auxiliary: Tensor,
    where: Sequence[Tensor],
    *,
    scale: float = 1.0,
) -> Decisions[Key]:
    """The decision for a group, on the gradients with respect to some tensors alone.

    Both passes end at these tensors; the graph stays for the pass that trains. A contrastive
    gradient that is not finite elsewhere is not seen.

    Args:
        key: the group.
        gate: what decides.
        reference: cross-entropy, with soft targets if the gate compares with these, too.
        auxiliary: the contrastive loss.
        where: embeddings, or parameters of the last layers.
        scale: multiplies both, as in `GatedBackward`.

    Returns:
        Nothing if neither loss reaches the tensors.
    """
    first, second = (_gradients(loss, where, scale) for loss in (reference, auxiliary))
    if all(gradient is None for gradient in (*first, *second)):
        return Decisions(gate, {})
    compared = [
        Compared(inner_products([one if gate.needs_angle else None], [two]), gate.needs_angle)
        for one, two in zip(first, second, strict=True)
    ]
    may_overflow = auxiliary.detach().isfinite() & (scale > 1)
    return Decisions(gate, {key: decide(gate, compared, may_overflow=may_overflow)})


def _gradients(loss: Tensor, where: Sequence[Tensor], scale: float) -> Gradients:
    return torch.autograd.grad(
        loss, where, torch.full_like(loss, scale), retain_graph=True, allow_unused=True
    )
