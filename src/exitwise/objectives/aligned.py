"""ACL-Embed as an auxiliary loss."""

from dataclasses import dataclass
from typing import get_args

from jaxtyping import Float, Int
from torch import Tensor

from exitwise.losses import AlignedAnchors, aligned_contrastive_loss
from exitwise.losses.contrastive import check_choice
from exitwise.objectives.auxiliary import Auxiliary, Contrast
from exitwise.outputs import ExitOutput


@Auxiliary.registry.register
@dataclass(frozen=True, kw_only=True)
class AlignedContrast(Contrast):
    """Samples and label embeddings against each other: `aligned_contrastive_loss`.

    Attributes:
        anchors: whose terms are summed.
        normalize_label_embeddings: whether label embeddings are brought to length 1.
    """

    anchors: AlignedAnchors = "all"
    normalize_label_embeddings: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("anchors", self.anchors, get_args(AlignedAnchors))

    def __call__(
        self, student: ExitOutput, labels: Int[Tensor, "n"], *, teacher: ExitOutput | None = None
    ) -> Float[Tensor, ""]:
        """The loss on $h^e$ of the samples and the exit's own label embeddings."""
        return aligned_contrastive_loss(
            student.embedding,
            student.label_embeddings,
            labels,
            anchors=self.anchors,
            temperature=self.temperature,
            denominator=self.denominator,
            reduction=self.reduction,
            normalize=self.normalize,
            normalize_label_embeddings=self.normalize_label_embeddings,
        )
