"""Bare encoders: loaded, built, shortened."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.testing import assert_close
from transformers import AutoModel, GPT2Config, PreTrainedModel

from exitwise.encoders import build_encoder, layerwise, load_encoder, truncate
from exitwise.errors import UnsupportedError


def last_states(model: PreTrainedModel, texts: Any, *, layers: int) -> torch.Tensor:
    walk = layerwise(model)
    state = walk.embed(texts.input_ids, texts.attention_mask, texts.token_type_ids)
    for layer in range(1, layers + 1):
        state = walk.run_layer(layer, state)
    return state.hidden


def test_a_loaded_encoder_has_the_saved_weights_and_no_pooler(
    encoder: PreTrainedModel, tmp_path: Path
) -> None:
    encoder.save_pretrained(tmp_path)
    loaded = load_encoder(tmp_path).state_dict()
    saved = {name: each for name, each in encoder.state_dict().items() if "pooler" not in name}
    assert loaded.keys() == saved.keys()
    assert all(torch.equal(loaded[name], saved[name]) for name in saved)


def test_an_encoder_stored_in_half_precision_is_loaded_in_float32(
    tiny_encoder: Callable[..., PreTrainedModel], tmp_path: Path
) -> None:
    tiny_encoder("bert").to(torch.bfloat16).save_pretrained(tmp_path)
    assert load_encoder(tmp_path).dtype == torch.float32


def test_a_built_encoder_has_the_modules_of_a_loaded_one(
    encoder: PreTrainedModel, tmp_path: Path
) -> None:
    encoder.save_pretrained(tmp_path)
    shapes = [
        {name: each.shape for name, each in model.state_dict().items()}
        for model in (build_encoder(encoder.config), load_encoder(tmp_path))
    ]
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize("num_layers", [1, 2, 3])
def test_the_layers_of_a_shortened_encoder_are_the_first_of_the_whole(
    encoder: PreTrainedModel, batch: Callable[..., Any], num_layers: int
) -> None:
    texts = batch(encoder, padding="left")
    expected = [last_states(encoder, texts, layers=m) for m in range(num_layers + 1)]
    short = truncate(encoder, num_layers)
    assert short is encoder
    assert layerwise(short).num_layers == len(layerwise(short).layers) == num_layers
    for m, states in enumerate(expected):
        assert_close(last_states(short, texts, layers=m), states, rtol=0, atol=0)


@pytest.mark.parametrize("num_layers", [1, 2])
def test_the_library_itself_runs_a_shortened_encoder_to_the_same_states(
    encoder: PreTrainedModel, batch: Callable[..., Any], num_layers: int
) -> None:
    texts = batch(encoder, padding="right")
    inputs = {"input_ids": texts.input_ids, "attention_mask": texts.attention_mask}
    step = getattr(encoder.config, "inner_group_num", 1)
    whole = encoder(**inputs, output_hidden_states=True).hidden_states[num_layers * step]
    short = truncate(encoder, num_layers)(**inputs).last_hidden_state
    for one, other in zip(texts.tokens_of(short), texts.tokens_of(whole), strict=True):
        assert_close(one, other, rtol=1e-5, atol=1e-6)


def test_a_shortened_encoder_is_smaller_and_can_be_stored_loaded_and_built(
    encoder: PreTrainedModel, batch: Callable[..., Any], tmp_path: Path
) -> None:
    texts = batch(encoder, padding="right")
    before = encoder.num_parameters()
    short = truncate(encoder, 2)
    has_one_group = getattr(encoder.config, "num_hidden_groups", None) == 1
    assert short.num_parameters() == before if has_one_group else short.num_parameters() < before
    short.save_pretrained(tmp_path)
    expected = last_states(short, texts, layers=2)
    loaded = load_encoder(tmp_path).eval()
    loaded.set_attn_implementation("eager")
    assert torch.equal(last_states(loaded, texts, layers=2), expected)
    built = build_encoder(loaded.config).eval()
    built.set_attn_implementation("eager")
    built.load_state_dict(loaded.state_dict())
    assert torch.equal(last_states(built, texts, layers=2), expected)


@pytest.mark.parametrize("num_layers", [0, 4])
def test_a_length_that_the_encoder_does_not_have_is_refused(
    encoder: PreTrainedModel, num_layers: int
) -> None:
    with pytest.raises(ValueError, match=f"no layer {num_layers}: .* layers 1 … 3"):
        truncate(encoder, num_layers)


def test_an_unknown_type_is_refused_by_name_before_its_weights_are_read(tmp_path: Path) -> None:
    GPT2Config(n_embd=8, n_layer=1, n_head=1).save_pretrained(tmp_path)
    with pytest.raises(UnsupportedError, match=r"'gpt2' cannot be walked.*albert, bert, camem"):
        load_encoder(tmp_path)
    with pytest.raises(UnsupportedError, match="'gpt2'"):
        build_encoder(GPT2Config())


def test_an_unknown_type_in_memory_is_refused_by_name() -> None:
    model = AutoModel.from_config(GPT2Config(vocab_size=8, n_embd=8, n_layer=1, n_head=1))
    with pytest.raises(UnsupportedError, match=r"'gpt2'.* xlm-roberta"):
        layerwise(model)


def test_a_decoder_is_refused(tiny_encoder: Callable[..., PreTrainedModel]) -> None:
    with pytest.raises(UnsupportedError, match="'bert' is configured as a decoder"):
        layerwise(tiny_encoder("bert", is_decoder=True))
