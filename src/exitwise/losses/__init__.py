"""The losses of the paper, as functions on tensors: usable in any training loop."""

from exitwise.losses.aligned import AlignedAnchors, aligned_contrastive_loss
from exitwise.losses.contrastive import Denominator, Reduction
from exitwise.losses.cross_layer import CrossLayerAnchors, cross_layer_contrastive_loss
from exitwise.losses.diagnostics import Geometry, compared_rows, geometry, has_positive
from exitwise.losses.distillation import soft_target_loss
from exitwise.losses.supervised import supervised_contrastive_loss

__all__ = [
    "AlignedAnchors",
    "CrossLayerAnchors",
    "Denominator",
    "Geometry",
    "Reduction",
    "aligned_contrastive_loss",
    "compared_rows",
    "cross_layer_contrastive_loss",
    "geometry",
    "has_positive",
    "soft_target_loss",
    "supervised_contrastive_loss",
]
