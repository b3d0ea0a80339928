"""What an encoder is given: token types it does not know, texts that are too long."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from transformers import PreTrainedModel

from exitwise.encoders import layerwise

WITHOUT_TYPES = {"distilbert", "mpnet", "modernbert", "roberta", "xlm-roberta", "camembert"}


@pytest.mark.field_case(60)
def test_encoders_say_which_inputs_they_make_use_of(encoder: PreTrainedModel) -> None:
    names = layerwise(encoder).input_names
    assert names[:2] == ("input_ids", "attention_mask")
    has_types = getattr(encoder.config, "type_vocab_size", 0) > 1
    assert names[2:] == (("token_type_ids",) if has_types else ())


@pytest.mark.field_case(60)
@pytest.mark.parametrize("model_type", sorted({*WITHOUT_TYPES, "deberta-v2"}))
def test_token_types_are_ignored_where_there_is_one_type_at_most(
    tiny_encoder: Callable[..., PreTrainedModel], batch: Callable[..., Any], model_type: str
) -> None:
    encoder = tiny_encoder(model_type)
    texts = batch(encoder, padding="right")
    walk = layerwise(encoder)
    plain = walk.embed(texts.input_ids, texts.attention_mask)
    out_of_range = torch.full_like(texts.input_ids, 9)
    typed = walk.embed(texts.input_ids, texts.attention_mask, out_of_range)
    assert torch.equal(plain.hidden, typed.hidden)


@pytest.mark.field_case(60)
@pytest.mark.parametrize("model_type", ["bert", "electra", "ernie", "albert"])
def test_token_types_count_where_there_are_two_and_are_type_0_by_default(
    tiny_encoder: Callable[..., PreTrainedModel], batch: Callable[..., Any], model_type: str
) -> None:
    encoder = tiny_encoder(model_type)
    texts = batch(encoder, padding="right")
    walk = layerwise(encoder)
    default = walk.embed(texts.input_ids, texts.attention_mask).hidden
    zeros = torch.zeros_like(texts.input_ids)
    assert torch.equal(walk.embed(texts.input_ids, texts.attention_mask, zeros).hidden, default)
    typed = walk.embed(texts.input_ids, texts.attention_mask, texts.token_type_ids).hidden
    is_second = texts.token_type_ids.bool()
    assert torch.equal(typed[~is_second], default[~is_second])
    assert not torch.isclose(typed[is_second], default[is_second]).any(dim=-1).all()


def looks_positions_up(encoder: PreTrainedModel) -> bool:
    """All do but ModernBERT, whose positions are angles, and DeBERTa, unless it is told to."""
    if encoder.config.model_type == "deberta-v2":
        return encoder.config.position_biased_input
    return encoder.config.model_type != "modernbert"


@pytest.mark.field_case(58)
def test_a_text_of_the_greatest_length_runs_and_a_longer_one_is_refused_if_a_table_ends(
    encoder: PreTrainedModel,
) -> None:
    walk = layerwise(encoder)
    ids = torch.full((1, walk.max_length), 5)
    walk.embed(ids, torch.ones_like(ids))
    longer = torch.full((1, walk.max_length + 1), 5)
    if looks_positions_up(encoder):
        with pytest.raises(
            ValueError, match=f"at most {walk.max_length} tokens.*found {walk.max_length + 1}"
        ):
            walk.embed(longer, torch.ones_like(longer))
    else:
        state = walk.embed(longer, torch.ones_like(longer))
        for layer in range(1, walk.num_layers + 1):
            state = walk.run_layer(layer, state)
        expected = encoder(longer, attention_mask=torch.ones_like(longer)).last_hidden_state
        assert torch.allclose(state.hidden, expected, atol=1e-5)


def test_padding_does_not_count_as_length(encoder: PreTrainedModel) -> None:
    walk = layerwise(encoder)
    ids = torch.full((1, walk.max_length + 5), 5)
    mask = torch.ones_like(ids)
    mask[:, :5] = 0
    state = walk.embed(ids, mask)
    short = walk.embed(ids[:, 5:], mask[:, 5:])
    assert torch.allclose(state.hidden[:, 5:], short.hidden, atol=1e-6)


@pytest.mark.parametrize(
    ("model_type", "length"), [("bert", 66), ("roberta", 64), ("mpnet", 64), ("modernbert", 66)]
)
def test_the_greatest_length_leaves_out_the_positions_of_padding(
    tiny_encoder: Callable[..., PreTrainedModel], model_type: str, length: int
) -> None:
    assert layerwise(tiny_encoder(model_type)).max_length == length
