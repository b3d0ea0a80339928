"""Layers that are computed again in the backward pass instead of kept."""

import copy
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from exitwise.encoders import FAMILIES
from exitwise.modeling import MultiExitForSequenceClassification

WITHOUT = ("albert", "mpnet")  # whose layers the library cannot compute again


@pytest.mark.field_case(44)
@pytest.mark.parametrize("model_type", sorted(set(FAMILIES).difference(WITHOUT)))
def test_the_gradient_is_the_same_and_layers_run_twice(
    model_type: str,
    tiny_model: Callable[..., MultiExitForSequenceClassification],
    batch: dict[str, Tensor],
) -> None:
    plain = tiny_model(model_type).train()
    saving = copy.deepcopy(plain)
    saving.activation_checkpointing_enable()
    gradients, runs = [], []
    for model in (plain, saving):
        runs.append(count_calls(first_attention(model)))
        torch.manual_seed(0)  # the same dropout
        model(**batch, labels=torch.tensor([0, 1, 2, 0])).loss.backward()
        gradients.append({name: each.grad for name, each in model.named_parameters()})
    torch.testing.assert_close(gradients[1], gradients[0])
    assert len(runs[1]) == 2 * len(runs[0]) > 0


@pytest.mark.field_case(44)
@pytest.mark.parametrize("model_type", WITHOUT)
def test_encoders_that_cannot_do_it_are_refused_by_the_library(
    model_type: str, tiny_model: Callable[..., MultiExitForSequenceClassification]
) -> None:
    with pytest.raises(ValueError, match="not compatible with gradient checkpointing"):
        tiny_model(model_type).activation_checkpointing_enable()


def first_attention(model: MultiExitForSequenceClassification) -> torch.nn.Module:
    """A linear map inside a layer."""
    names = ("query", "q", "q_lin", "Wqkv", "query_proj")
    return next(
        module for name, module in model.encoder.named_modules() if name.rsplit(".", 1)[-1] in names
    )


def count_calls(module: torch.nn.Module) -> list[None]:
    calls: list[None] = []
    module.register_forward_hook(lambda *_: calls.append(None))
    return calls
