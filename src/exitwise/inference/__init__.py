"""Inference: texts in; label, probability and layer out.

`TorchEngine` is in `exitwise.inference.torch_engine`: all that stands here needs no torch.
"""

from exitwise.inference.answers import Answers, probabilities
from exitwise.inference.early_exit import EarlyExit
from exitwise.inference.engine import Engine
from exitwise.inference.replay import replay
from exitwise.inference.tokens import Encoded, TextTokens

__all__ = [
    "Answers",
    "EarlyExit",
    "Encoded",
    "Engine",
    "TextTokens",
    "probabilities",
    "replay",
]
