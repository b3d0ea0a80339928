"""SCL as an auxiliary loss."""

from dataclasses import dataclass

from jaxtyping import Bool, Float, Int
from torch import Tensor

from exitwise.losses import has_positive, supervised_contrastive_loss
from exitwise.objectives.auxiliary import Auxiliary, Contrast
from exitwise.outputs import ExitOutput


@Auxiliary.registry.register
@dataclass(frozen=True, kw_only=True)
class SupervisedContrast(Contrast):
    """Samples against samples: `supervised_contrastive_loss`."""

    def __call__(
        self, student: ExitOutput, labels: Int[Tensor, "n"], *, teacher: ExitOutput | None = None
    ) -> Float[Tensor, ""]:
        """The loss on $h^e$ of the samples."""
        return supervised_contrastive_loss(
            student.embedding,
            labels,
            temperature=self.temperature,
            denominator=self.denominator,
            reduction=self.reduction,
            normalize=self.normalize,
        )

    def has_positive(self, labels: Int[Tensor, "n"]) -> Bool[Tensor, ""]:
        """Whether any label occurs twice."""
        return has_positive(labels)
