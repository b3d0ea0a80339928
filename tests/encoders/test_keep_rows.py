from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close
from transformers import PreTrainedModel

from exitwise.encoders import LayerState, LayerwiseEncoder, layerwise


def run(walk: LayerwiseEncoder[Any], state: LayerState[Any], *layers: int) -> LayerState[Any]:
    for layer in layers:
        state = walk.run_layer(layer, state)
    return state


def alone(walk: LayerwiseEncoder[Any], texts: Any, row: int, *layers: int) -> Tensor:
    """The states of one text, run by itself and without padding."""
    ids = texts.input_ids[row][texts.attention_mask[row].bool()][None]
    types = texts.token_type_ids[row][texts.attention_mask[row].bool()][None]
    return run(walk, walk.embed(ids, torch.ones_like(ids), types), *layers).hidden[0]


@pytest.mark.parametrize("padding", ["left", "right"])
@pytest.mark.parametrize("after", [0, 1, 2])
def test_kept_rows_go_on_as_if_they_had_been_alone(
    encoder: PreTrainedModel, batch: Callable[..., Any], padding: str, after: int
) -> None:
    walk = layerwise(encoder)
    texts = batch(encoder, padding=padding)
    state = walk.embed(texts.input_ids, texts.attention_mask, texts.token_type_ids)
    state = run(walk, state, *range(1, after + 1))
    state = walk.keep_rows(state, torch.tensor([2, 0]))
    state = run(walk, state, *range(after + 1, 4))
    assert state.hidden.shape == (2, 7, 16)  # the text of 9 tokens has left
    for kept, row in enumerate([2, 0]):
        tokens = state.hidden[kept][state.attention_mask[kept].bool()]
        assert_close(tokens, alone(walk, texts, row, 1, 2, 3), rtol=0, atol=1e-5)


def test_rows_come_in_the_order_asked_for(
    encoder: PreTrainedModel, batch: Callable[..., Any]
) -> None:
    walk = layerwise(encoder)
    texts = batch(encoder, padding="right")
    state = walk.embed(texts.input_ids, texts.attention_mask)
    kept = walk.keep_rows(state, torch.tensor([1, 2, 0]))
    assert torch.equal(kept.hidden, state.hidden[[1, 2, 0]])
    assert torch.equal(kept.attention_mask, state.attention_mask[[1, 2, 0]])


def test_padding_between_tokens_stays(encoder: PreTrainedModel, batch: Callable[..., Any]) -> None:
    walk = layerwise(encoder)
    texts = batch(encoder, padding="right")
    mask = texts.attention_mask.clone()
    mask[0, :] = torch.tensor([0, 1, 0, 1, 0, 0, 0, 0, 0])
    state = walk.embed(texts.input_ids, mask)
    kept = walk.keep_rows(state, torch.tensor([0]))
    assert kept.attention_mask.tolist() == [[1, 0, 1]]
    assert torch.equal(kept.hidden, state.hidden[:1, 1:4])


def test_a_batch_of_no_rows_is_refused(encoder: PreTrainedModel, batch: Callable[..., Any]) -> None:
    walk = layerwise(encoder)
    texts = batch(encoder, padding="right")
    state = walk.embed(texts.input_ids, texts.attention_mask)
    with pytest.raises(ValueError, match="no rows are left: the walk ends here"):
        walk.keep_rows(state, torch.tensor([], dtype=torch.long))
