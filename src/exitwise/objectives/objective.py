"""An objective: cross-entropy, an auxiliary loss with its gate, and soft targets."""

from dataclasses import dataclass
from typing import NamedTuple, get_args

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from exitwise.gradients import CEWeight, GradientGate
from exitwise.losses import check_choice
from exitwise.objectives.aligned import AlignedContrast
from exitwise.objectives.auxiliary import Auxiliary
from exitwise.objectives.cross_layer import CrossLayerContrast
from exitwise.objectives.soft_targets import SoftTargets
from exitwise.objectives.supervised import SupervisedContrast
from exitwise.outputs import ExitOutput


class Terms(NamedTuple):
    r"""The losses of one exit on one batch; `exitwise.gradients` combines their gradients.

    Attributes:
        primary: $L_{ce}$.
        auxiliary: the contrastive loss without its weight.
        soft_targets: $\beta L_{kd}$, weighted.
        has_positive: whether the auxiliary loss had anything to learn from. If not, it is 0;
            such batches are to be counted.
    """

    primary: Float[Tensor, ""]
    auxiliary: Float[Tensor, ""] | None = None
    soft_targets: Float[Tensor, ""] | None = None
    has_positive: Bool[Tensor, ""] | None = None

    def scaled(self, factor: float) -> "Terms":
        """All losses times a factor."""
        return Terms(*(_times(loss, factor) for loss in self[:3]), has_positive=self.has_positive)

    def plus(self, other: "Terms") -> "Terms":
        """The sum of the losses of two exits on the same batch."""
        losses = (_sum(one, two) for one, two in zip(self[:3], other[:3], strict=True))
        return Terms(*losses, has_positive=self.has_positive)


@dataclass(frozen=True, kw_only=True)
class Objective:
    r"""What an exit learns from: $(1-\lambda') L_{ce} + \lambda' L_{con} + \beta L_{kd}$.

    The rows of the paper's ablation are changes of one field.

    Attributes:
        auxiliary: $L_{con}$; `None` leaves cross-entropy.
        weight: $\lambda$. Only comparable within one `reduction` and batch size.
        gate: decides on $\lambda'$ for each batch; `None` keeps all.
        soft_targets: of the teacher exit, with $\beta$ and T.
        ce_weight: "complement" is $1-\lambda'$, "one" is $L_{ce} + \lambda' L_{con}$.
    """

    auxiliary: Auxiliary | None = None
    weight: float = 0.02
    gate: GradientGate | None = None
    soft_targets: SoftTargets | None = None
    ce_weight: CEWeight = "complement"

    def __post_init__(self) -> None:
        if not 0 <= self.weight <= 1:
            raise ValueError(f"weight must be from 0 to 1, found {self.weight}")
        if self.gate is not None and self.auxiliary is None:
            raise ValueError("a gate needs an auxiliary loss that it may drop, found none")
        check_choice("ce_weight", self.ce_weight, get_args(CEWeight))

    @classmethod
    def cross_entropy(cls) -> "Objective":
        """CE: plain fine-tuning."""
        return cls()

    @classmethod
    def scl(cls) -> "Objective":
        """CE+SCL: supervised contrastive learning without a gate."""
        return cls(auxiliary=SupervisedContrast())

    @classmethod
    def acl(cls) -> "Objective":
        """ACL on one exit: ACL-Embed and ACL-Grad."""
        return cls(auxiliary=AlignedContrast(), gate=GradientGate())

    @classmethod
    def acl_cl(cls) -> "Objective":
        """The second stage of ACL: ACL-CL, ACL-Grad and soft targets."""
        return cls(auxiliary=CrossLayerContrast(), gate=GradientGate(), soft_targets=SoftTargets())

    @property
    def needs_teacher(self) -> bool:
        """Whether a teacher exit takes part."""
        if self.auxiliary is not None and self.auxiliary.needs_teacher:
            return True
        return self.soft_targets is not None and self.soft_targets.weight > 0

    def combined(self, terms: Terms) -> Float[Tensor, ""]:
        r"""$(1-\lambda) L_{ce} + \lambda L_{con} + \beta L_{kd}$: the loss if the gate is open."""
        loss = terms.primary
        if terms.auxiliary is not None:
            ce_weight = 1.0 if self.ce_weight == "one" else 1.0 - self.weight
            loss = ce_weight * loss + self.weight * terms.auxiliary
        return loss if terms.soft_targets is None else loss + terms.soft_targets

    def __call__(
        self,
        student: ExitOutput,
        labels: Int[Tensor, "n"],
        *,
        teacher: ExitOutput | None = None,
        class_weights: Float[Tensor, "k"] | None = None,
    ) -> Terms:
        """The terms of one exit on one batch; the teacher gets no gradient.

        Class weights act on cross-entropy alone, whose mean is then the weighted one.
        """
        if self.needs_teacher and teacher is None:
            raise ValueError("the objective needs the output of a teacher exit, found none")
        logits = student.logits.to(torch.promote_types(student.logits.dtype, torch.float32))
        terms = Terms(primary=cross_entropy(logits, labels, weight=class_weights))
        if self.auxiliary is not None:
            terms = terms._replace(
                auxiliary=self.auxiliary(student, labels, teacher=teacher),
                has_positive=self.auxiliary.has_positive(labels),
            )
        if self.soft_targets is not None and self.soft_targets.weight > 0 and teacher is not None:
            terms = terms._replace(soft_targets=self.soft_targets(student, teacher))
        return terms


def _times(loss: Tensor | None, factor: float) -> Tensor | None:
    return None if loss is None else factor * loss


def _sum(first: Tensor | None, second: Tensor | None) -> Tensor | None:
    return first if second is None else second if first is None else first + second
