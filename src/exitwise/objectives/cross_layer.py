"""ACL-CL as an auxiliary loss."""

from dataclasses import dataclass
from typing import ClassVar, get_args

from jaxtyping import Float, Int
from torch import Tensor

from exitwise.losses import CrossLayerAnchors, cross_layer_contrastive_loss
from exitwise.losses.contrastive import check_choice
from exitwise.objectives.auxiliary import Auxiliary, Contrast
from exitwise.outputs import ExitOutput


@Auxiliary.registry.register
@dataclass(frozen=True, kw_only=True)
class CrossLayerContrast(Contrast):
    """An exit's items and its teacher's against each other: `cross_layer_contrastive_loss`.

    Attributes:
        anchors: whose terms are summed.
        normalize_label_embeddings: whether label embeddings are brought to length 1.
    """

    needs_teacher: ClassVar[bool] = True

    anchors: CrossLayerAnchors = "all"
    normalize_label_embeddings: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("anchors", self.anchors, get_args(CrossLayerAnchors))

    def __call__(
        self, student: ExitOutput, labels: Int[Tensor, "n"], *, teacher: ExitOutput | None = None
    ) -> Float[Tensor, ""]:
        """The loss on the items of both exits; the teacher's get no gradient."""
        if teacher is None:
            raise ValueError("cross-layer contrast needs the output of a teacher exit, found none")
        return cross_layer_contrastive_loss(
            student,
            teacher,
            labels,
            anchors=self.anchors,
            temperature=self.temperature,
            denominator=self.denominator,
            reduction=self.reduction,
            normalize=self.normalize,
            normalize_label_embeddings=self.normalize_label_embeddings,
        )
