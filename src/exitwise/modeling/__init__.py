"""The multi-exit classifier as a model of transformers."""

from exitwise.modeling.config import MultiExitConfig
from exitwise.modeling.model import MultiExitForSequenceClassification

__all__ = ["MultiExitConfig", "MultiExitForSequenceClassification"]
