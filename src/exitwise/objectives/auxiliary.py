"""The family of auxiliary losses, those that the gate may drop."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from exitwise.losses import Denominator, Reduction
from exitwise.losses.contrastive import check_contrast
from exitwise.outputs import ExitOutput
from exitwise.registry import Registry


class Auxiliary(ABC):
    """A loss beside cross-entropy: what an exit says, and maybe a teacher, to a number."""

    registry: ClassVar[Registry["Auxiliary"]] = Registry("auxiliary loss", suffix="Contrast")

    needs_teacher: ClassVar[bool] = False

    @abstractmethod
    def __call__(
        self, student: ExitOutput, labels: Int[Tensor, "n"], *, teacher: ExitOutput | None = None
    ) -> Float[Tensor, ""]:
        """The loss of a batch, without its weight."""

    def has_positive(self, labels: Int[Tensor, "n"]) -> Bool[Tensor, ""]:
        """Whether a batch with these labels has anything to learn from; else the loss is 0."""
        return torch.ones((), dtype=torch.bool, device=labels.device)


@dataclass(frozen=True, kw_only=True)
class Contrast(Auxiliary):
    r"""The settings that all contrastive losses share; `exitwise.losses` explains them.

    Attributes:
        temperature: $\tau$.
        denominator: whether the softmax counts the anchor itself.
        reduction: over the anchors. $\lambda$ has another meaning under each.
        normalize: whether samples are brought to length 1.
    """

    temperature: float = 0.5
    denominator: Denominator = "paper"
    reduction: Reduction = "sum"
    normalize: bool = True

    def __post_init__(self) -> None:
        check_contrast(
            temperature=self.temperature, denominator=self.denominator, reduction=self.reduction
        )
