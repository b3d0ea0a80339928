"""Each layer of each encoder against the library's own hidden states."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close
from transformers import AutoTokenizer, PreTrainedModel

from exitwise.encoders import LayerState, LayerwiseEncoder, layerwise, load_encoder

MODELS = Path(__file__).parents[2] / "models"


def walked(walk: LayerwiseEncoder[Any], *inputs: Tensor) -> list[Tensor]:
    """The states after layer 0 … M."""
    state = walk.embed(*inputs)
    hidden = [state.hidden]
    for layer in range(1, walk.num_layers + 1):
        state = walk.run_layer(layer, state)
        hidden.append(state.hidden)
    return hidden


def walked_batch(model: PreTrainedModel, texts: Any) -> list[Tensor]:
    return walked(layerwise(model), texts.input_ids, texts.attention_mask, texts.token_type_ids)


def counted_positions(mask: Tensor, *, first: int, padding: int) -> Tensor:
    """Position ids by a loop over the tokens."""
    rows = []
    for row in mask.tolist():
        count, ids = first, []
        for is_token in row:
            ids.append(count if is_token else padding)
            count += is_token
        rows.append(ids)
    return torch.tensor(rows)


def library_states(model: PreTrainedModel, batch: Any) -> list[Tensor]:
    """What the model itself says, told the same positions, mask and token types."""
    padding_first = model.config.model_type in {"roberta", "xlm-roberta", "camembert", "mpnet"}
    positions = counted_positions(
        batch.attention_mask,
        first=model.config.pad_token_id + 1 if padding_first else 0,
        padding=model.config.pad_token_id if padding_first else 0,
    )
    inputs = {"input_ids": batch.input_ids, "attention_mask": batch.attention_mask}
    if getattr(model.config, "type_vocab_size", 0) > 1:
        inputs["token_type_ids"] = batch.token_type_ids
    output = model(**inputs, position_ids=positions, output_hidden_states=True)
    # ALBERT reports each layer inside a group, of which a step of the walk is the last.
    return list(output.hidden_states[:: getattr(model.config, "inner_group_num", 1)])


@pytest.mark.parametrize("padding", ["left", "right"])
@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_every_layer_equals_the_librarys_hidden_states(
    encoder: PreTrainedModel, batch: Callable[..., Any], attention: str, padding: str
) -> None:
    if attention == "sdpa":
        if not encoder._supports_sdpa:
            pytest.skip(f"{type(encoder).__name__} has no SDPA")
        encoder.set_attn_implementation("sdpa")
    texts = batch(encoder, padding=padding)
    expected = library_states(encoder, texts)
    found = walked_batch(encoder, texts)
    assert len(found) == len(expected) == encoder.config.num_hidden_layers + 1
    for layer, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
        for text, same in zip(texts.tokens_of(ours), texts.tokens_of(theirs), strict=True):
            assert_close(text, same, rtol=1e-5, atol=1e-6, msg=f"layer {layer}")


def test_layers_change_the_states_enough_for_the_comparison_to_mean_something(
    encoder: PreTrainedModel, batch: Callable[..., Any]
) -> None:
    texts = batch(encoder, padding="right")
    states = library_states(encoder, texts)
    for before, after in pairwise(states):
        assert (before - after)[texts.attention_mask.bool()].abs().mean() > 0.1


def test_a_batch_padded_on_the_right_needs_no_positions_to_agree_with_the_library(
    encoder: PreTrainedModel, batch: Callable[..., Any]
) -> None:
    texts = batch(encoder, padding="right")
    expected = encoder(
        input_ids=texts.input_ids, attention_mask=texts.attention_mask
    ).last_hidden_state
    found = walked(layerwise(encoder), texts.input_ids, texts.attention_mask)[-1]
    for text, same in zip(texts.tokens_of(found), texts.tokens_of(expected), strict=True):
        assert_close(text, same, rtol=1e-5, atol=1e-6)


@pytest.mark.field_case(16)
def test_padding_on_either_side_gives_the_same_states_at_all_layers(
    encoder: PreTrainedModel, batch: Callable[..., Any]
) -> None:
    walk = layerwise(encoder)
    left, right = (batch(encoder, padding=side) for side in ("left", "right"))
    by_side = [
        [texts.tokens_of(states) for states in walked(walk, texts.input_ids, texts.attention_mask)]
        for texts in (left, right)
    ]
    for layer_left, layer_right in zip(*by_side, strict=True):
        for one, other in zip(layer_left, layer_right, strict=True):
            assert_close(one, other, rtol=0, atol=1e-5)


def test_a_boolean_mask_does_what_an_integer_mask_does(
    encoder: PreTrainedModel, batch: Callable[..., Any]
) -> None:
    texts = batch(encoder, padding="left")
    walk = layerwise(encoder)
    integer = walked(walk, texts.input_ids, texts.attention_mask)[-1]
    boolean = walked(walk, texts.input_ids, texts.attention_mask.bool())[-1]
    assert torch.equal(integer, boolean)


def test_walking_on_from_known_states_equals_the_walk(
    encoder: PreTrainedModel, batch: Callable[..., Any]
) -> None:
    texts = batch(encoder, padding="left")
    walk = layerwise(encoder)
    hidden = walked(walk, texts.input_ids, texts.attention_mask)
    resumed = walk.run_layer(3, walk.resume(hidden[2], texts.attention_mask))
    assert torch.equal(resumed.hidden, hidden[3])


@pytest.mark.usefixtures("gradients")
def test_training_draws_the_dropout_of_the_library_and_every_parameter_gets_its_gradient(
    encoder: PreTrainedModel, batch: Callable[..., Any]
) -> None:
    encoder.train()
    texts = batch(encoder, padding="right")
    gradients = []
    for states in (library_states, walked_batch):
        encoder.zero_grad()
        torch.manual_seed(0)
        last = states(encoder, texts)[-1]
        torch.cat(texts.tokens_of(last)).square().sum().backward()
        gradients.append({name: each.grad for name, each in encoder.named_parameters()})
    expected, found = gradients
    for name in expected:
        if "pooler" not in name:  # which no exit uses
            assert found[name] is not None, name
            assert found[name].isfinite().all()
            assert_close(found[name], expected[name], rtol=1e-4, atol=1e-5, msg=name)


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_bfloat16_autocast_gives_what_the_library_gives_under_it(
    encoder: PreTrainedModel, batch: Callable[..., Any], attention: str
) -> None:
    if encoder._supports_sdpa:
        encoder.set_attn_implementation(attention)
    texts = batch(encoder, padding="left")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        expected = library_states(encoder, texts)[-1]
        found = walked_batch(encoder, texts)[-1]
    for text, same in zip(texts.tokens_of(found), texts.tokens_of(expected), strict=True):
        assert_close(text, same, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("layer", [0, 4, -1])
def test_a_layer_that_is_not_there_is_named(encoder: PreTrainedModel, layer: int) -> None:
    walk = layerwise(encoder)
    ids = torch.full((1, 3), 5)
    state = walk.embed(ids, torch.ones_like(ids))
    with pytest.raises(ValueError, match=f"no layer {layer}: this encoder has layers 1 … 3"):
        walk.run_layer(layer, state)


def test_the_walk_uses_the_models_own_modules_and_leaves_the_mode_alone(
    encoder: PreTrainedModel,
) -> None:
    walk = layerwise(encoder)
    modules = set(encoder.modules())
    assert walk.model is encoder
    assert all(layer in modules for layer in walk.layers)
    assert len(walk.layers) == walk.num_layers == 3
    assert walk.width == 16
    assert not encoder.training


def test_layers_are_distinct_modules_except_where_weights_are_shared_by_design(
    encoder: PreTrainedModel,
) -> None:
    num_modules = len(set(layerwise(encoder).layers))
    is_albert = encoder.config.model_type == "albert"
    assert num_modules == (encoder.config.num_hidden_groups if is_albert else 3)


def test_a_state_cannot_be_altered(encoder: PreTrainedModel) -> None:
    ids = torch.full((1, 3), 5)
    state = layerwise(encoder).embed(ids, torch.ones_like(ids))
    assert isinstance(state, LayerState)
    with pytest.raises(AttributeError):
        state.hidden = state.hidden + 1


@pytest.mark.parametrize(
    "name",
    ["all-MiniLM-L6-v2", pytest.param("all-mpnet-base-v2", marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("padding", ["left", "right"])
def test_a_real_encoder_equals_the_librarys_hidden_states(name: str, padding: str) -> None:
    if not (MODELS / name / "config.json").is_file():
        pytest.skip(f"models/{name} is not here")
    tokenizer = AutoTokenizer.from_pretrained(MODELS / name, padding_side=padding)
    encoder = load_encoder(MODELS / name).eval()
    inputs = tokenizer(
        ["A quiet film that stays with you.", "No."], padding=True, return_tensors="pt"
    )
    mask = inputs["attention_mask"]
    first = 2 if encoder.config.model_type == "mpnet" else 0
    expected = encoder(
        input_ids=inputs["input_ids"],
        attention_mask=mask,
        position_ids=counted_positions(mask, first=first, padding=max(first - 1, 0)),
        output_hidden_states=True,
    ).hidden_states
    found = walked(layerwise(encoder), inputs["input_ids"], mask)
    assert len(found) == len(expected) == encoder.config.num_hidden_layers + 1
    for ours, theirs in zip(found, expected, strict=True):
        assert_close(ours[mask.bool()], theirs[mask.bool()], rtol=1e-5, atol=1e-5)
