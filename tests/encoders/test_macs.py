"""Counted multiply-accumulates against torch's own counter."""

from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoModel, BertConfig, PreTrainedModel

from exitwise.encoders import dense_layer_macs, layerwise


@pytest.mark.parametrize("length", [7, 12])
def test_each_layers_count_is_that_of_the_counter_of_torch(
    encoder: PreTrainedModel, length: int
) -> None:
    walk = layerwise(encoder)
    ids = torch.full((1, length), 5)
    state = walk.embed(ids, torch.ones_like(ids))
    for layer in range(1, walk.num_layers + 1):
        with FlopCounterMode(display=False) as counter:
            state = walk.run_layer(layer, state)
        assert 2 * walk.layer_macs(length, layer) == counter.get_total_flops()


def test_all_layers_make_the_count_of_the_reference(reference_values: dict[str, Any]) -> None:
    reference = reference_values["flops"]
    base = reference["bert_base"]
    assert len(reference["table"]) > 5
    for row in reference["table"]:
        one = dense_layer_macs(row["length"], width=base["d"], intermediate=base["d_ff"])
        assert one == row["one_layer_MACs"]
        assert 12 * one == row["encoder_12_layers_MACs"]
        assert 6 * one == row["encoder_6_layers_MACs"]
        assert 2 * 12 * one == row["encoder_12_layers_FLOPs_2_per_MAC"]


def test_bert_base_has_the_count_of_the_reference(reference_values: dict[str, Any]) -> None:
    with torch.device("meta"):
        walk = layerwise(AutoModel.from_config(BertConfig()))
    for row in reference_values["flops"]["table"]:
        total = sum(walk.layer_macs(row["length"], layer) for layer in range(1, 13))
        assert total == row["encoder_12_layers_MACs"]


def test_a_layer_that_is_not_there_has_no_count(encoder: PreTrainedModel) -> None:
    with pytest.raises(ValueError, match="no layer 4: this encoder has layers 1 … 3"):
        layerwise(encoder).layer_macs(8, 4)
