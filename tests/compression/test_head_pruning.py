"""Heads that go: which, what the others compute without them, and what is saved of it."""

import copy
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoModelForSequenceClassification, PreTrainedTokenizerFast

from exitwise.compression import HeadPruningCompression, TrainerFit, with_layers
from exitwise.compression.head_pruning import (
    head_importance,
    highest,
    mask_gradients,
    normalized_by_layer,
)
from exitwise.encoders import attention_of, keep_heads, kept_heads, layerwise, load_encoder
from exitwise.encoders.heads import ATTENTIONS
from exitwise.errors import UnsupportedError
from exitwise.export.onnx import export_onnx
from exitwise.inference.onnx_engine import OnnxEngine
from exitwise.inference.torch_engine import TorchEngine
from exitwise.modeling import MultiExitForSequenceClassification
from exitwise.training import compile_layers

MakeModel = Callable[..., MultiExitForSequenceClassification]

KEPT = ((1, 3, 4), (2,), (1, 2, 3, 4), (1, 4))
TEXTS = {
    "input_ids": torch.tensor([[2, 9, 30, 12, 3], [2, 17, 3, 0, 0], [2, 40, 41, 3, 0]]),
    "attention_mask": torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 1, 1, 1, 0]]),
}
LABELS = torch.tensor([0, 1, 1])


@pytest.fixture
def make_wide(make_model: MakeModel) -> MakeModel:
    """The tiny classifier with four heads of four dimensions a layer, its answers wide apart."""

    def make(model_type: str = "bert", **changes: Any) -> MultiExitForSequenceClassification:
        model = make_model(model_type, num_attention_heads=4, **changes)
        generator = torch.Generator().manual_seed(2)
        for parameter in model.exits.parameters():
            nn.init.normal_(parameter, std=0.5, generator=generator)
        return model

    return make


def pruned(model: MultiExitForSequenceClassification) -> MultiExitForSequenceClassification:
    """A copy with the heads of `KEPT`."""
    model = copy.deepcopy(model)
    keep_heads(model.encoder, KEPT[: model.num_layers])
    return with_layers(model, range(1, model.num_layers + 1))


def scale_head(
    model: MultiExitForSequenceClassification, layer: int, head: int, factor: float
) -> None:
    """Multiplies a head's columns of the output projection."""
    module = layerwise(model.encoder).layers[layer - 1]
    weight = attention_of(model.encoder.config, module).output.weight
    with torch.no_grad():
        weight[:, 4 * (head - 1) : 4 * head] *= factor


@pytest.mark.parametrize("model_type", ATTENTIONS)
def test_a_pruned_model_is_the_whole_one_with_the_heads_silenced(
    make_wide: MakeModel, model_type: str
) -> None:
    model = make_wide(model_type)
    whole = model(**TEXTS).logits
    smaller = pruned(model)
    for layer, heads in enumerate(KEPT, start=1):
        for head in {1, 2, 3, 4} - set(heads):
            scale_head(model, layer, head, 0.0)
    silenced = model(**TEXTS).logits
    assert (whole - silenced).abs().max() > 1e-2
    torch.testing.assert_close(smaller(**TEXTS).logits, silenced, rtol=0, atol=1e-6)


def test_the_importance_is_the_finite_difference_of_a_factor(make_wide: MakeModel) -> None:
    model = make_wide().double()
    expected = torch.zeros(len(LABELS), 4, 4, dtype=torch.double)
    step = 1e-5

    def losses(layer: int, head: int, factor: float) -> Tensor:
        changed = copy.deepcopy(model)
        scale_head(changed, layer, head, factor)
        with torch.no_grad():
            return cross_entropy(changed(**TEXTS).logits, LABELS, reduction="none")

    for layer in range(1, 5):
        for head in range(1, 5):
            rise = losses(layer, head, 1 + step) - losses(layer, head, 1 - step)
            expected[:, layer - 1, head - 1] = rise / (2 * step)
    found = torch.stack(mask_gradients(model, {**TEXTS, "labels": LABELS}), dim=1)
    torch.testing.assert_close(found.double(), expected, rtol=1e-4, atol=1e-7)
    assert expected.abs().min() > 1e-5
    assert (expected > 0).any() and (expected < 0).any()  # so that a mean of signs would differ

    halves = [
        {name: tensor[rows] for name, tensor in {**TEXTS, "labels": LABELS}.items()}
        for rows in (slice(0, 2), slice(2, 3))
    ]
    importance = torch.stack(head_importance(model, halves))
    mean = expected.abs().mean(dim=0)
    torch.testing.assert_close(importance.double(), mean, rtol=1e-4, atol=1e-7)


def test_scores_leave_no_gradient_and_no_hook(make_wide: MakeModel) -> None:
    model = make_wide()
    before = model(**TEXTS).logits
    head_importance(model, [{**TEXTS, "labels": LABELS}])
    assert all(parameter.grad is None for parameter in model.parameters())
    torch.testing.assert_close(model(**TEXTS).logits, before, rtol=0, atol=0)


def test_scores_of_compiled_layers_are_the_same(make_wide: MakeModel) -> None:
    batch = {**TEXTS, "labels": LABELS}
    expected = head_importance(make_wide(), [batch])
    model = make_wide()
    compile_layers(layerwise(model.encoder).layers, backend="eager")
    with torch.no_grad():
        model(**TEXTS)
    torch.testing.assert_close(head_importance(model, [batch]), expected)


def test_the_lowest_heads_of_all_layers_go_and_one_of_each_layer_stays() -> None:
    scores = [torch.tensor([0.5, 0.1, 0.2]), torch.tensor([0.05, 0.04, 0.01])]
    assert highest(scores, num_removed=1) == [[0, 1, 2], [0, 1]]
    assert highest(scores, num_removed=3) == [[0, 2], [0]]
    assert highest(scores, num_removed=6) == [[0], [0]]
    first, second = normalized_by_layer([torch.tensor([3.0, 4.0]), torch.tensor([0.3, 0.4])])
    torch.testing.assert_close(first, torch.tensor([0.6, 0.8]))
    torch.testing.assert_close(second, first)


def test_the_least_important_heads_are_the_ones_that_go(
    make_wide: MakeModel, fit: TrainerFit
) -> None:
    model = make_wide()
    silent = {1: 2, 3: 4, 4: 1}
    for layer, head in silent.items():
        scale_head(model, layer, head, 0.0)
    expected = model(**TEXTS).logits
    smaller = HeadPruningCompression(share=3 / 16).compress(model, fit)
    assert kept_heads(smaller.encoder.config) == (
        (1, 3, 4),
        (1, 2, 3, 4),
        (1, 2, 3),
        (2, 3, 4),
    )
    torch.testing.assert_close(smaller(**TEXTS).logits, expected, rtol=0, atol=1e-6)


def test_a_model_can_be_pruned_again(make_wide: MakeModel, fit: TrainerFit) -> None:
    once = pruned(make_wide())
    twice = HeadPruningCompression(share=0.5).compress(once, fit)
    heads = kept_heads(twice.encoder.config)
    assert sum(map(len, heads)) == 5
    assert all(set(after) <= set(before) for after, before in zip(heads, KEPT, strict=True))


def test_training_afterwards_changes_what_is_left(make_wide: MakeModel, fit: TrainerFit) -> None:
    settings = {"share": 0.5, "learning_rate": 1e-2}
    still = HeadPruningCompression(**settings).compress(make_wide(), fit)
    trained = HeadPruningCompression(epochs=1, **settings).compress(make_wide(), fit)
    assert kept_heads(still.encoder.config) == kept_heads(trained.encoder.config)
    still_state = still.state_dict()
    changed = [
        name
        for name, tensor in trained.state_dict().items()
        if not torch.equal(tensor, still_state[name])
    ]
    assert any("attention.self.query" in name for name in changed)


@pytest.mark.parametrize("model_type", ATTENTIONS)
def test_parameters_and_macs_go_with_the_heads(make_wide: MakeModel, model_type: str) -> None:
    model = make_wide(model_type)
    smaller = pruned(model)
    width, head_size, gone = 16, 4, 6
    assert model.num_parameters() - smaller.num_parameters() == gone * head_size * (4 * width + 3)
    smaller.encoder.set_attn_implementation("eager")
    walk, whole = layerwise(smaller.encoder), layerwise(model.encoder)
    ids = torch.full((1, 7), 5)
    with torch.no_grad():
        state = walk.embed(ids, torch.ones_like(ids))
        for layer, heads in enumerate(KEPT, start=1):
            with FlopCounterMode(display=False) as counter:
                state = walk.run_layer(layer, state)
            assert 2 * walk.layer_macs(7, layer) == counter.get_total_flops()
            assert (walk.layer_macs(7, layer) < whole.layer_macs(7, layer)) == (len(heads) < 4)


@pytest.mark.parametrize("model_type", ATTENTIONS)
def test_a_saved_pruned_model_comes_back_to_the_bit(
    make_wide: MakeModel, model_type: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    model = pruned(make_wide(model_type))
    model.save_pretrained(tmp_path)
    with caplog.at_level(logging.WARNING, logger="transformers"):
        found = AutoModelForSequenceClassification.from_pretrained(tmp_path)
    assert not caplog.records
    assert isinstance(found, MultiExitForSequenceClassification)
    torch.testing.assert_close(found.state_dict(), model.state_dict(), rtol=0, atol=0)
    assert kept_heads(found.encoder.config) == kept_heads(found.config.encoder) == KEPT
    assert found.encoder.config is found.config.encoder
    torch.testing.assert_close(found(**TEXTS).logits, model(**TEXTS).logits, rtol=0, atol=0)


def test_the_heads_of_layers_that_are_chosen_go_with_them(
    make_wide: MakeModel, tmp_path: Path
) -> None:
    smaller = with_layers(pruned(make_wide()), (2, 4))
    assert kept_heads(smaller.encoder.config) == (KEPT[1], KEPT[3])
    smaller.save_pretrained(tmp_path)
    found = MultiExitForSequenceClassification.from_pretrained(tmp_path)
    torch.testing.assert_close(found(**TEXTS).logits, smaller(**TEXTS).logits, rtol=0, atol=0)


def test_an_encoder_that_has_all_its_heads_says_nothing_of_them(make_wide: MakeModel) -> None:
    model = make_wide()
    keep_heads(model.encoder, [(1, 2, 3, 4)] * 4)
    assert "kept_heads" not in with_layers(model, (1, 3)).config.encoder.to_dict()


def test_engine_and_exported_graphs_answer_alike(
    make_wide: MakeModel, tiny_tokenizer: PreTrainedTokenizerFast, tmp_path: Path
) -> None:
    engine = TorchEngine(pruned(make_wide(num_layers=2)), tiny_tokenizer)
    export_onnx(engine, tmp_path / "onnx")
    texts = ["a very good film", "dull and long and cold", ""]
    found = OnnxEngine(tmp_path / "onnx")
    expected = engine.logits(texts)
    np.testing.assert_allclose(found.logits(texts), expected, atol=1e-4)
    assert np.ptp(expected) > 1e-2
    for length in (1, 5, 40):
        place = {"after": 0, "to": 2, "length": length}
        assert found.macs(**place) == engine.macs(**place)


@pytest.mark.parametrize("model_type", ["albert", "deberta-v2", "mpnet", "modernbert"])
def test_other_encoders_are_refused_by_name(
    make_wide: MakeModel, fit: TrainerFit, model_type: str
) -> None:
    with pytest.raises(UnsupportedError, match=f"of type '{model_type}' cannot be removed"):
        HeadPruningCompression().compress(make_wide(model_type), fit)


def test_a_pruned_encoder_alone_is_refused(make_wide: MakeModel, tmp_path: Path) -> None:
    pruned(make_wide()).encoder.save_pretrained(tmp_path)
    with pytest.raises(UnsupportedError, match="an encoder without some of its heads"):
        load_encoder(tmp_path)


def test_settings_out_of_range_are_refused() -> None:
    for share in (0.0, 1.0, -0.5):
        with pytest.raises(ValueError, match=f"share must be between 0 and 1, found {share}"):
            HeadPruningCompression(share=share)
    with pytest.raises(ValueError, match="epochs must be at least 0, found -1"):
        HeadPruningCompression(epochs=-1)
