"""The losses of a batch, apart: their gradients are combined later, by the gate."""

from typing import NamedTuple

from jaxtyping import Bool, Float
from torch import Tensor


class Terms(NamedTuple):
    r"""The losses of one exit on one batch; `exitwise.gradients` combines their gradients.

    Attributes:
        primary: $L_{ce}$.
        auxiliary: the contrastive loss without its weight.
        soft_targets: $\beta L_{kd}$, weighted.
        has_positive: whether the auxiliary loss had anything to learn from. If not, it is 0;
            such batches are to be counted.
        representations: the embeddings that the losses were computed on.
    """

    primary: Float[Tensor, ""]
    auxiliary: Float[Tensor, ""] | None = None
    soft_targets: Float[Tensor, ""] | None = None
    has_positive: Bool[Tensor, ""] | None = None
    representations: tuple[Tensor, ...] = ()

    def scaled(self, factor: float) -> "Terms":
        """All losses times a factor, such as the weight of a layer."""
        return self._replace(
            primary=factor * self.primary,
            auxiliary=None if self.auxiliary is None else factor * self.auxiliary,
            soft_targets=None if self.soft_targets is None else factor * self.soft_targets,
        )

    def plus(self, other: "Terms") -> "Terms":
        """The sum over two exits, under one objective and on one batch."""
        return self._replace(
            primary=self.primary + other.primary,
            auxiliary=_sum(self.auxiliary, other.auxiliary),
            soft_targets=_sum(self.soft_targets, other.soft_targets),
            representations=self.representations + other.representations,
        )


def _sum(first: Tensor | None, second: Tensor | None) -> Tensor | None:
    return first if second is None else second if first is None else first + second
