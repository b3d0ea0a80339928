from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from exitwise.exits import PoolerExit, PoolerExitConfig


@pytest.mark.parametrize(
    ("activation", "function"),
    [("tanh", torch.tanh), ("relu", torch.relu), ("gelu", functional.gelu)],
)
def test_the_embedding_is_the_activated_dense_map_of_the_first_token(
    activation: Any, function: Callable[[Tensor], Tensor]
) -> None:
    config = PoolerExitConfig(activation=activation)
    head = PoolerExit(config, encoder_width=4, num_labels=2).eval()
    hidden = torch.randn(1, 3, 4)
    output = head(hidden, torch.tensor([[0, 1, 1]]))
    expected = function(hidden[:, 1] @ head.dense.weight.T + head.dense.bias)
    torch.testing.assert_close(output.embedding, expected)


def test_sizes_are_the_reference_values(reference_values: dict[str, Any]) -> None:
    head = PoolerExit(PoolerExitConfig(), encoder_width=768, num_labels=2)
    size = sum(p.numel() for p in head.dense.parameters())
    assert size == reference_values["parameter_counts"]["pooler"]
    row = reference_values["flops"]["table"][0]
    assert head.macs(row["length"]) == row["pooler_MACs"] + row["linear_exit_k2_MACs"]


@pytest.mark.usefixtures("without_type_checks")
def test_an_unknown_activation_names_the_known_ones() -> None:
    settings: dict[str, Any] = {"activation": "swish"}
    with pytest.raises(ValueError, match="one of tanh, relu, gelu, found 'swish'"):
        PoolerExitConfig(**settings)
