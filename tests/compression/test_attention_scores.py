"""Tests of exitwise.compression.attention_scores."""

from collections.abc import Callable

import pytest
import torch
from transformers import PreTrainedModel

from exitwise.compression.attention_scores import attention_scores, check_has_attention_scores
from exitwise.encoders import FAMILIES, PlainEncoder, layerwise
from exitwise.errors import UnsupportedError

IDS = torch.tensor([[2, 9, 11, 3, 1, 1], [2, 5, 6, 7, 8, 3]])
MASK = torch.tensor([[1, 1, 1, 1, 0, 0], [1] * 6])
PLAIN = [kind for kind, family in FAMILIES.items() if issubclass(family, PlainEncoder)]


@pytest.mark.parametrize("model_type", PLAIN)
def test_softmax_of_the_scores_gives_the_librarys_probabilities(
    tiny_encoder: Callable[..., PreTrainedModel], model_type: str
) -> None:
    encoder = tiny_encoder(model_type, pad_token_id=1, attn_implementation="eager")
    expected = encoder(IDS, MASK, output_attentions=True).attentions
    walk = layerwise(encoder)
    state = walk.embed(IDS, MASK)
    tokens = MASK.bool()  # padding has another position in the walk, and asks for nothing
    for layer, probabilities in enumerate(expected, start=1):
        scores = attention_scores(walk, layer, state.hidden)
        hidden_pairs = scores.masked_fill(MASK[:, None, None, :] == 0, -torch.inf)
        ours = hidden_pairs.softmax(dim=-1).transpose(1, 2)[tokens]  # [t, h, l]
        torch.testing.assert_close(ours, probabilities.transpose(1, 2)[tokens])
        state = walk.run_layer(layer, state)
    assert scores.abs().max() > 1e-2


@pytest.mark.parametrize("model_type", ["mpnet", "deberta-v2"])
def test_encoders_with_other_terms_are_refused(
    tiny_encoder: Callable[..., PreTrainedModel], model_type: str
) -> None:
    with pytest.raises(UnsupportedError, match=f"attention of a {model_type} encoder"):
        check_has_attention_scores(model_type)
