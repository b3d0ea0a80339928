"""Soft targets of a teacher exit, as data."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from exitwise.bounds import check_positive
from exitwise.losses import soft_target_loss
from exitwise.outputs import ExitOutput


@dataclass(frozen=True, kw_only=True)
class SoftTargets:
    r"""$\beta L_{kd}$, added outside the $\lambda$ mix: `soft_target_loss`.

    The paper's stage-2 equation has no such term, yet its text and its Table 3 at
    $\lambda = 1$ need one. Weight 0 gives the equation.

    Attributes:
        weight: $\beta$.
        temperature: T.
    """

    weight: float = 1.0
    temperature: float = 1.0

    def __post_init__(self) -> None:
        if not self.weight >= 0:
            raise ValueError(f"the weight of soft targets must be 0 or more, found {self.weight}")
        check_positive(self, "temperature")

    def __call__(self, student: ExitOutput, teacher: ExitOutput) -> Float[Tensor, ""]:
        """The weighted loss; the teacher gets no gradient."""
        loss = soft_target_loss(student.logits, teacher.logits, temperature=self.temperature)
        return self.weight * loss
