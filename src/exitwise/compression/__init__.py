"""Static baselines: a whole model made smaller for all texts alike.

The simplest one, the first k layers of a pre-trained encoder, needs nothing from here: it is
`num_layers` of a recipe.
"""

from exitwise.compression.base import Batch, Compression, Fit
from exitwise.compression.distillation import DistillationCompression
from exitwise.compression.fit import TrainerFit
from exitwise.compression.head_pruning import HeadPruningCompression
from exitwise.compression.kept_layers import spread, with_layers
from exitwise.compression.layer_drop import LayerDropCompression
from exitwise.compression.layerwise_distillation import LayerwiseDistillationCompression
from exitwise.compression.module_replacement import ModuleReplacementCompression

__all__ = [
    "Batch",
    "Compression",
    "DistillationCompression",
    "Fit",
    "HeadPruningCompression",
    "LayerDropCompression",
    "LayerwiseDistillationCompression",
    "ModuleReplacementCompression",
    "TrainerFit",
    "spread",
    "with_layers",
]
