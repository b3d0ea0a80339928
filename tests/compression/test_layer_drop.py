"""Layers that are left out in training, and a model of those that stay."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from exitwise.compression import LayerDropCompression, TrainerFit
from exitwise.compression.layer_drop import LayerDropped, every_other
from exitwise.encoders import layerwise
from exitwise.errors import UnsupportedError
from exitwise.modeling import MultiExitForSequenceClassification

MakeModel = Callable[..., MultiExitForSequenceClassification]

TEXTS = {
    "input_ids": torch.tensor([[2, 9, 30, 12, 3], [2, 17, 3, 0, 0]]),
    "attention_mask": torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]),
}
LABELS = torch.tensor([0, 1])


def walked(model: MultiExitForSequenceClassification, layers: tuple[int, ...]) -> Tensor:
    """The logits of the last exit after some layers alone."""
    walk = layerwise(model.encoder)
    state = walk.embed(**TEXTS)
    for layer in layers:
        state = walk.run_layer(layer, state)
    mask = TEXTS["attention_mask"]
    return model.exits_from_hidden({model.num_layers: state.hidden}, mask)[model.num_layers].logits


def layers_of_next_pass(trainee: LayerDropped) -> tuple[int, ...]:
    """Draws as the next pass will; the generator stands where it stood."""
    state = torch.get_rng_state()
    drawn = tuple(trainee.drawn_layers())
    torch.set_rng_state(state)
    return drawn


@pytest.mark.parametrize("rate", [0.0, 0.2, 0.7])
def test_each_layer_runs_in_its_share_of_the_passes(make_model: MakeModel, rate: float) -> None:
    trainee = LayerDropped(make_model(), rate=rate).train()
    ran = dict.fromkeys(range(1, 5), 0)
    for layer, module in enumerate(layerwise(trainee.model.encoder).layers, start=1):
        module.register_forward_pre_hook(
            lambda *_, layer=layer: ran.update({layer: ran[layer] + 1})
        )
    passes = 200
    with torch.no_grad():
        for _ in range(passes):
            trainee(**TEXTS, labels=LABELS)
    for count in ran.values():
        assert count / passes == pytest.approx(1 - rate, abs=0.1)


def test_layers_are_left_out_on_their_own(make_model: MakeModel) -> None:
    trainee = LayerDropped(make_model(num_layers=2), rate=0.5)
    drawn = [tuple(trainee.drawn_layers()) for _ in range(400)]
    for each in ((), (1,), (2,), (1, 2)):
        assert drawn.count(each) / 400 == pytest.approx(0.25, abs=0.08)


def test_what_comes_into_a_layer_left_out_goes_out_unchanged(make_model: MakeModel) -> None:
    trainee = LayerDropped(make_model(), rate=0.5).train()
    seen = set()
    for _ in range(8):
        layers = layers_of_next_pass(trainee)
        seen.add(layers)
        expected = torch.nn.functional.cross_entropy(walked(trainee.model, layers), LABELS)
        torch.testing.assert_close(trainee(**TEXTS, labels=LABELS)["loss"], expected)
    assert len(seen) > 3


def test_a_layer_left_out_gets_no_gradient(make_model: MakeModel) -> None:
    trainee = LayerDropped(make_model(), rate=0.5).train()
    layers = layers_of_next_pass(trainee)
    assert 0 < len(layers) < 4
    trainee(**TEXTS, labels=LABELS)["loss"].backward()
    for layer, module in enumerate(layerwise(trainee.model.encoder).layers, start=1):
        gradients = [parameter.grad for parameter in module.parameters()]
        if layer in layers:
            assert all(gradient is not None for gradient in gradients)
            assert any(gradient.abs().max() > 0 for gradient in gradients)
        else:
            assert gradients == [None] * len(gradients)


def test_in_evaluation_every_layer_runs(make_model: MakeModel) -> None:
    model = make_model()
    trainee = LayerDropped(model, rate=0.9)
    assert not trainee.training
    expected = model(**TEXTS, labels=LABELS).loss
    torch.testing.assert_close(trainee(**TEXTS, labels=LABELS)["loss"], expected, rtol=0, atol=0)


@pytest.mark.parametrize("model_type", ["bert", "distilbert", "mpnet", "deberta-v2"])
def test_the_model_that_stays_is_the_whole_one_without_the_other_layers(
    make_model: MakeModel, fit: TrainerFit, model_type: str
) -> None:
    model = make_model(model_type)
    before = walked(model, (1, 3))
    settings = LayerDropCompression(keep=2, epochs=1, learning_rate=1e-2)
    smaller = settings.compress(model, fit).eval()
    assert smaller.num_layers == settings.num_layers(4) == 2
    expected = walked(model.eval(), (1, 3))
    assert (expected - before).abs().max() > 1e-3  # it was trained
    torch.testing.assert_close(smaller(**TEXTS).logits, expected, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("keep", "num_layers", "expected"),
    [
        (6, 12, (1, 3, 5, 7, 9, 11)),  # the paper: every other, d ≡ 0 (mod 2) goes
        (8, 12, (1, 2, 4, 5, 7, 8, 10, 11)),  # d ≡ 0 (mod 3)
        (12, 12, tuple(range(1, 13))),
        (1, 12, (1,)),
        (5, 12, (1, 3, 5, 8, 10)),
    ],
)
def test_every_so_manieth_layer_goes(keep: int, num_layers: int, expected: tuple[int, ...]) -> None:
    assert every_other(keep, num_layers) == expected


def test_what_cannot_be_is_refused(make_model: MakeModel, fit: TrainerFit) -> None:
    with pytest.raises(ValueError, match="keep must be from 1 to 4, found 5"):
        LayerDropCompression(keep=5).num_layers(4)
    with pytest.raises(ValueError, match="keep must be from 1 to 4, found 0"):
        LayerDropCompression(keep=0).num_layers(4)
    with pytest.raises(ValueError, match="rate must be from 0 up to 1, found 1"):
        LayerDropCompression(keep=2, rate=1.0)
    with pytest.raises(ValueError, match="epochs must be at least 1, found 0"):
        LayerDropCompression(keep=2, epochs=0)
    with pytest.raises(UnsupportedError, match="layers of an encoder of type 'albert' cannot"):
        LayerDropCompression(keep=2).compress(make_model("albert"), fit)
