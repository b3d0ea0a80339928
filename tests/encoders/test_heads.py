"""Heads that are let go; what a pruned classifier does is tested in tests/compression."""

from collections.abc import Callable

import pytest
import torch
from transformers import PreTrainedModel

from exitwise.encoders import build_encoder, keep_heads, kept_heads, layerwise, truncate
from exitwise.encoders.heads import ATTENTIONS

MakeEncoder = Callable[..., PreTrainedModel]

KEPT = ((2, 4), (1, 2, 3, 4), (3,))


def shapes(model: PreTrainedModel) -> dict[str, torch.Size]:
    return {
        name: tensor.shape for name, tensor in model.state_dict().items() if "pooler" not in name
    }


@pytest.mark.parametrize("model_type", ATTENTIONS)
def test_an_encoder_is_built_with_the_heads_of_its_configuration(
    tiny_encoder: MakeEncoder, model_type: str
) -> None:
    encoder = keep_heads(tiny_encoder(model_type, num_attention_heads=4), KEPT)
    built = build_encoder(encoder.config)
    assert shapes(built) == shapes(encoder)
    assert kept_heads(built.config) == KEPT


def test_heads_keep_their_numbers_when_others_go(tiny_encoder: MakeEncoder) -> None:
    at_once, in_turn = (tiny_encoder("bert", num_attention_heads=4) for _ in range(2))
    keep_heads(at_once, [(4,), (1, 3), (3,)])
    keep_heads(keep_heads(in_turn, KEPT), [(4,), (1, 3), (3,)])
    torch.testing.assert_close(in_turn.state_dict(), at_once.state_dict(), rtol=0, atol=0)


def test_the_heads_of_layers_that_are_cut_off_are_forgotten(tiny_encoder: MakeEncoder) -> None:
    encoder = keep_heads(tiny_encoder("bert", num_attention_heads=4), KEPT)
    truncate(encoder, 2)
    assert kept_heads(encoder.config) == KEPT[:2]
    assert [layerwise(encoder).attention_width(layer) for layer in (1, 2)] == [8, 16]


def test_what_is_frozen_stays_frozen_and_a_module_counts_its_heads(
    tiny_encoder: MakeEncoder,
) -> None:
    encoder = tiny_encoder("bert", num_attention_heads=4).requires_grad_(False)
    keep_heads(encoder, KEPT)
    assert not any(parameter.requires_grad for parameter in encoder.parameters())
    attention = layerwise(encoder).layers[0].attention.self
    assert (attention.num_attention_heads, attention.all_head_size) == (2, 8)


def test_a_head_that_is_gone_already_cannot_stay(tiny_encoder: MakeEncoder) -> None:
    encoder = keep_heads(tiny_encoder("bert", num_attention_heads=4), KEPT)
    with pytest.raises(ValueError, match="head 1 of layer 1 is not there: it has the heads 2, 4"):
        keep_heads(encoder, [(1,), (1,), (3,)])
    with pytest.raises(ValueError, match="layer 3 would have no head"):
        keep_heads(encoder, [(2,), (1,), ()])
    assert kept_heads(encoder.config) == KEPT
    assert layerwise(encoder).layers[0].attention.self.num_attention_heads == 2
