"""The multi-exit classifier as a model of transformers."""

from exitwise.modeling.classifiers import from_classifier
from exitwise.modeling.config import MultiExitConfig
from exitwise.modeling.model import MultiExitForSequenceClassification

__all__ = ["MultiExitConfig", "MultiExitForSequenceClassification", "from_classifier"]
