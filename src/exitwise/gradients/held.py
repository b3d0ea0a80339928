"""Gradients beside `p.grad`: those that wait for the gate's decision."""

from collections.abc import Iterable
from typing import NamedTuple

from torch import Tensor

from exitwise.gradients.angle import Gradients


class HeldGradients(NamedTuple):
    """What waits for a decision; each list has one entry a parameter, `None` for zeros."""

    primary: list[Tensor | None]
    auxiliary: list[Tensor | None]
    soft_targets: list[Tensor | None]  # only if the gate compares with them, too
    auxiliary_loss: Tensor

    def plus(self, other: "HeldGradients") -> "HeldGradients":
        """The sum over two micro-batches."""
        return HeldGradients(
            primary=sums(self.primary, other.primary),
            auxiliary=sums(self.auxiliary, other.auxiliary),
            soft_targets=sums(self.soft_targets, other.soft_targets),
            auxiliary_loss=self.auxiliary_loss + other.auxiliary_loss,
        )

    def pair(self, indices: Iterable[int]) -> tuple[list[Tensor | None], list[Tensor | None]]:
        """What the gate compares on some parameters: the reference and the auxiliary gradient."""
        chosen = list(indices)
        reference = sums(
            [self.primary[index] for index in chosen],
            [self.soft_targets[index] for index in chosen],
        )
        return reference, [self.auxiliary[index] for index in chosen]


def sums(first: Gradients, second: Gradients) -> list[Tensor | None]:
    """Entry by entry; a sum is a new tensor, since autograd may give one to two parameters."""
    return [
        b if a is None else a if b is None else a + b for a, b in zip(first, second, strict=True)
    ]


def accumulate(parameter: Tensor, gradient: Tensor | None, weight: float) -> None:
    """Adds to `p.grad`, which stays `None` where there is nothing to add."""
    if gradient is None:
        return
    if parameter.grad is None:
        # A new tensor, since autograd may give one gradient to two parameters.
        parameter.grad = gradient * weight
    else:
        parameter.grad.add_(gradient, alpha=weight)
