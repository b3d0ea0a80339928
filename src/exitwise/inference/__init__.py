"""Inference: texts in, the logits of the exits out."""

from exitwise.inference.torch_engine import (
    TorchEngine,
    label_names,
    model_folder,
    probabilities,
)

__all__ = ["TorchEngine", "label_names", "model_folder", "probabilities"]
