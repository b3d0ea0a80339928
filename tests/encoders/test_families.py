"""What is particular to one family."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.testing import assert_close
from transformers import PreTrainedModel

from exitwise.encoders import FAMILIES, layerwise, truncate
from exitwise.errors import UnsupportedError

Tiny = Callable[..., PreTrainedModel]


def test_the_families_are_those_that_the_documentation_names() -> None:
    assert set(FAMILIES) == {
        *("bert", "roberta", "xlm-roberta", "camembert", "electra", "ernie", "distilbert"),
        *("mpnet", "deberta-v2", "modernbert", "albert"),
    }


def test_every_family_names_its_model_types() -> None:
    assert all(name in family.model_types for name, family in FAMILIES.items())


def test_the_last_layer_of_modernbert_includes_the_final_norm_and_no_other_does(
    tiny_encoder: Tiny,
) -> None:
    encoder = tiny_encoder("modernbert")
    walk = layerwise(encoder)
    ids = torch.arange(3, 12)[None]
    state = walk.embed(ids, torch.ones_like(ids))
    calls = []
    encoder.final_norm.register_forward_hook(lambda _module, _args, output: calls.append(output))
    for layer in (1, 2):
        state = walk.run_layer(layer, state)
        assert not calls
    state = walk.run_layer(3, state)
    assert len(calls) == 1
    assert torch.equal(state.hidden, calls[0])


def test_a_shortened_modernbert_has_no_final_norm_and_a_whole_one_keeps_it(
    tiny_encoder: Tiny,
) -> None:
    whole = truncate(tiny_encoder("modernbert"), 3)
    assert "final_norm.weight" in whole.state_dict()
    assert getattr(whole.config, "final_norm", True)
    short = truncate(tiny_encoder("modernbert"), 2)
    assert "final_norm.weight" not in short.state_dict()
    assert short.config.layer_types == whole.config.layer_types[:2]


def test_local_layers_of_modernbert_see_no_distant_token(tiny_encoder: Tiny) -> None:
    walk = layerwise(tiny_encoder("modernbert"))  # local window: two tokens to either side
    ids = torch.arange(3, 15)[None]
    changed = ids.clone()
    changed[0, -1] = 50
    mask = torch.ones_like(ids)
    one, other = walk.embed(ids, mask), walk.embed(changed, mask)
    local = [walk.run_layer(2, state).hidden[0, 0] for state in (one, other)]
    assert torch.equal(*local)
    full = [walk.run_layer(1, state).hidden[0, 0] for state in (one, other)]
    assert not torch.allclose(*full)


def test_a_plain_walk_over_mpnet_would_be_wrong(tiny_encoder: Tiny) -> None:
    encoder = tiny_encoder("mpnet")
    walk = layerwise(encoder)
    ids = torch.arange(3, 12)[None]
    state = walk.embed(ids, torch.ones_like(ids))
    without_bias = walk.layers[0](state.hidden, state.context.mask)[0]
    assert (walk.run_layer(1, state).hidden - without_bias).abs().max() > 0.01


def test_albert_repeats_its_groups_in_the_order_of_the_library(tiny_encoder: Tiny) -> None:
    walk = layerwise(tiny_encoder("albert", num_hidden_layers=6, num_hidden_groups=2))
    first, second = walk.model.encoder.albert_layer_groups
    assert walk.layers == (first,) * 3 + (second,) * 3


@pytest.mark.parametrize(("num_layers", "num_groups"), [(2, 1), (3, 1), (5, 2), (6, 2)])
def test_albert_can_be_cut_where_the_groups_stay_as_they_are(
    tiny_encoder: Tiny, num_layers: int, num_groups: int
) -> None:
    encoder = tiny_encoder("albert", num_hidden_layers=6, num_hidden_groups=2)
    kept = layerwise(encoder).layers[:num_layers]
    truncate(encoder, num_layers)
    assert layerwise(encoder).layers == kept
    assert encoder.config.num_hidden_groups == num_groups


def test_albert_is_not_cut_where_layers_would_change_their_group(tiny_encoder: Tiny) -> None:
    encoder = tiny_encoder("albert", num_hidden_layers=6, num_hidden_groups=2)
    with pytest.raises(UnsupportedError, match="6 layers in 2 groups cannot be cut to 4"):
        truncate(encoder, 4)
    assert layerwise(encoder).num_layers == 6


def test_the_convolution_of_deberta_runs_after_layer_1_only(
    tiny_encoder: Tiny, batch: Callable[..., Any]
) -> None:
    encoder = tiny_encoder("deberta-v2", conv_kernel_size=3)
    calls = []
    encoder.encoder.conv.register_forward_hook(lambda *_: calls.append(1))
    walk = layerwise(encoder)
    texts = batch(encoder, padding="left")
    state = walk.embed(texts.input_ids, texts.attention_mask)
    counts = []
    for layer in (1, 2, 3):
        state = walk.run_layer(layer, state)
        counts.append(len(calls))
    assert counts == [1, 1, 1]


def test_a_narrow_electra_is_widened_before_its_first_layer(tiny_encoder: Tiny) -> None:
    encoder = tiny_encoder("electra")
    ids = torch.arange(3, 12)[None]
    hidden = layerwise(encoder).embed(ids, torch.ones_like(ids)).hidden
    assert_close(hidden, encoder.embeddings_project(encoder.embeddings(ids)))
