"""Aligned contrastive learning and early exit for BERT-family classifiers."""

import importlib
from typing import TYPE_CHECKING

from exitwise.auto_classes import register_when_needed
from exitwise.errors import ExitwiseError, MissingExtraError

if TYPE_CHECKING:  # for type checkers and editors; `_HOME` says the same to Python
    from exitwise.classifier import EarlyExitClassifier
    from exitwise.exits import LinearExitConfig, MHAExitConfig, PoolerExitConfig
    from exitwise.gradients import GradientGate, gated_backward, gradient_angle
    from exitwise.losses import (
        aligned_contrastive_loss,
        cross_layer_contrastive_loss,
        soft_target_loss,
        supervised_contrastive_loss,
    )
    from exitwise.modeling import MultiExitConfig, MultiExitForSequenceClassification
    from exitwise.recipe import Recipe
    from exitwise.run.train import train
    from exitwise.training import AlignedTrainer, MultiExitTrainer

__version__ = "0.1.0"

# Where each public name lives; imported when it is first asked for.
_HOME = {
    "AlignedTrainer": "exitwise.training",
    "EarlyExitClassifier": "exitwise.classifier",
    "GradientGate": "exitwise.gradients",
    "LinearExitConfig": "exitwise.exits",
    "MHAExitConfig": "exitwise.exits",
    "MultiExitConfig": "exitwise.modeling",
    "MultiExitForSequenceClassification": "exitwise.modeling",
    "MultiExitTrainer": "exitwise.training",
    "PoolerExitConfig": "exitwise.exits",
    "Recipe": "exitwise.recipe",
    "aligned_contrastive_loss": "exitwise.losses",
    "cross_layer_contrastive_loss": "exitwise.losses",
    "gated_backward": "exitwise.gradients",
    "gradient_angle": "exitwise.gradients",
    "soft_target_loss": "exitwise.losses",
    "supervised_contrastive_loss": "exitwise.losses",
    "train": "exitwise.run.train",
}

__all__ = [
    "AlignedTrainer",
    "EarlyExitClassifier",
    "ExitwiseError",
    "GradientGate",
    "LinearExitConfig",
    "MHAExitConfig",
    "MultiExitConfig",
    "MultiExitForSequenceClassification",
    "MultiExitTrainer",
    "PoolerExitConfig",
    "Recipe",
    "aligned_contrastive_loss",
    "cross_layer_contrastive_loss",
    "gated_backward",
    "gradient_angle",
    "soft_target_loss",
    "supervised_contrastive_loss",
    "train",
]


def __getattr__(name: str) -> object:
    """A public name, imported from its home."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = importlib.import_module(_HOME[name])
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] == __name__:
            raise
        raise MissingExtraError(error.name, extra="train") from None
    value: object = getattr(module, name)
    globals()[name] = value  # the next access does not come here
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


register_when_needed()
