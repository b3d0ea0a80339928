"""An objective: cross-entropy, an auxiliary loss with its gate, and soft targets."""

from dataclasses import dataclass
from typing import get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from exitwise.gradients import CEWeight, GradientGate
from exitwise.losses.contrastive import check_choice
from exitwise.objectives.aligned import AlignedContrast
from exitwise.objectives.auxiliary import Auxiliary
from exitwise.objectives.cross_layer import CrossLayerContrast
from exitwise.objectives.soft_targets import SoftTargets
from exitwise.objectives.supervised import SupervisedContrast
from exitwise.objectives.terms import Terms
from exitwise.outputs import ExitOutput


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
        terms = Terms(
            primary=cross_entropy(logits, labels, weight=class_weights),
            representations=(student.embedding,),
        )
        if self.auxiliary is not None:
            terms = terms._replace(
                auxiliary=self.auxiliary(student, labels, teacher=teacher),
                has_positive=self.auxiliary.has_positive(labels),
            )
        if self.soft_targets is not None and self.soft_targets.weight > 0 and teacher is not None:
            terms = terms._replace(soft_targets=self.soft_targets(student, teacher))
        return terms
