"""Inference: texts in, the logits of the exits out."""

from exitwise.inference.torch_engine import TorchEngine

__all__ = ["TorchEngine"]
