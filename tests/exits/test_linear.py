from typing import Any

import torch

from exitwise.exits import LinearExit, LinearExitConfig


def test_the_embedding_is_the_hidden_state_of_the_first_token() -> None:
    head = LinearExit(LinearExitConfig(), encoder_width=4, num_labels=2).eval()
    hidden = torch.randn(2, 3, 4)
    output = head(hidden, torch.tensor([[1, 1, 1], [0, 1, 1]]))
    assert torch.equal(output.embedding, torch.stack([hidden[0, 0], hidden[1, 1]]))


def test_sizes_are_the_reference_values(reference_values: dict[str, Any]) -> None:
    head = LinearExit(LinearExitConfig(), encoder_width=768, num_labels=2)
    size = reference_values["parameter_counts"]["linear_exit_d768_k2_no_bias"]
    assert sum(p.numel() for p in head.parameters()) == size
    for row in reference_values["flops"]["table"]:
        assert head.macs(row["length"]) == row["linear_exit_k2_MACs"]
