from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from exitwise.modeling import MultiExitForSequenceClassification

LABELS = ("bad", "so so", "good")


@pytest.fixture
def tiny_model(
    tiny_encoder: Callable[..., PreTrainedModel],
) -> Callable[..., MultiExitForSequenceClassification]:
    """A factory: type of encoder and arguments of `around` → a tiny model of three layers."""

    def make(model_type: str = "bert", **arguments: Any) -> MultiExitForSequenceClassification:
        arguments = {"labels": LABELS, **arguments}
        model = MultiExitForSequenceClassification.around(tiny_encoder(model_type), **arguments)
        for parameter in model.exits.parameters():
            nn.init.normal_(parameter, std=0.5)  # small weights hide mistakes
        return model.eval()

    return make


@pytest.fixture
def batch() -> dict[str, Tensor]:
    """Four texts of at most nine tokens, padded on the right."""
    mask = torch.ones(4, 9, dtype=torch.long)
    mask[1, 5:] = mask[2, 1:] = 0
    return {"input_ids": torch.randint(5, 64, (4, 9)) * mask, "attention_mask": mask}
