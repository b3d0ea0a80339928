"""Tests of exitwise.compression.module_replacement."""

import copy
from pathlib import Path
from typing import Any

import pytest
import torch

from exitwise.compression import Fit, ModuleReplacementCompression, with_layers
from exitwise.compression.module_replacement import MixedModel
from exitwise.encoders import layerwise
from exitwise.modeling import MultiExitForSequenceClassification

IDS = torch.tensor([[2, 9, 11, 3, 0, 0], [2, 5, 6, 7, 8, 3], [2, 13, 3, 0, 0, 0]])
MASK = (IDS != 0).long()
LABELS = torch.tensor([0, 1, 1])
TYPES = ["bert", "distilbert", "mpnet", "deberta-v2", "roberta"]


def mixed(model: Any, keep: int = 2, num_steps: int = 10, **settings: Any) -> MixedModel:
    chosen = ModuleReplacementCompression(keep=keep, **settings)
    return MixedModel(with_layers(model, range(1, keep + 1)), model, chosen, num_steps=num_steps)


def changed(model: Any) -> MixedModel:
    """A successor whose layers are unlike all of the predecessor's."""
    trainee = mixed(model)
    with torch.no_grad():
        for parameter in trainee.learning:
            parameter.add_(0.1 * torch.randn_like(parameter))
    return trainee


@pytest.mark.parametrize("model_type", TYPES)
def test_all_modules_replaced_are_the_successor_and_none_the_predecessor(
    make_model: Any, model_type: str
) -> None:
    trainee = changed(make_model(model_type))
    successor, predecessor = (
        trainee.student(IDS, MASK).logits,
        trainee.teacher(IDS, MASK).logits,
    )
    assert not torch.allclose(successor, predecessor)
    assert torch.equal(trainee.logits([True, True], IDS, MASK), successor)
    assert torch.equal(trainee.logits([False, False], IDS, MASK), predecessor)


def test_a_layer_takes_the_place_of_its_own_module(make_model: Any) -> None:
    trainee = changed(make_model(num_layers=6))  # modules (1, 2, 3) and (4, 5, 6)
    ours, theirs = layerwise(trainee.student.encoder), layerwise(trainee.teacher.encoder)
    for replaced, path in (
        ([True, False], [(ours, 1), (theirs, 4), (theirs, 5), (theirs, 6)]),
        ([False, True], [(theirs, 1), (theirs, 2), (theirs, 3), (ours, 2)]),
    ):
        state = theirs.embed(IDS, MASK)
        for walk, layer in path:
            state = walk.run_layer(layer, state)
        expected = trainee.teacher.exit(6)(state.hidden, MASK).logits
        torch.testing.assert_close(trainee.logits(replaced, IDS, MASK), expected)


def test_rates_of_the_schedule() -> None:
    settings = ModuleReplacementCompression(keep=2, rate=0.2, full_after=0.8)
    rates = [settings.rate_at(step, 10) for step in range(10)]
    assert rates == pytest.approx([0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0])


def test_a_constant_rate_stays() -> None:
    settings = ModuleReplacementCompression(keep=2, rate=0.7, full_after=None)
    assert {settings.rate_at(step, 10) for step in range(10)} == {0.7}


def test_the_share_of_replaced_modules_follows_the_schedule(make_model: Any) -> None:
    trainee = mixed(make_model(), num_steps=4000, rate=0.2, full_after=0.5)
    draws = torch.tensor([trainee.draw() for _ in range(4000)], dtype=torch.float64)  # [t, 2]
    # The mean rate of each of the first four parts, of 500 steps: 0.3, 0.5, 0.7, 0.9.
    shares = draws[:2000].unflatten(0, (4, 500)).mean(dim=1)
    expected = torch.tensor([0.3, 0.5, 0.7, 0.9], dtype=torch.float64)
    assert ((shares - expected[:, None]).abs() < 0.07).all()  # 3 standard deviations and more
    assert draws[2000:].all()


def test_modules_are_drawn_each_on_its_own(make_model: Any) -> None:
    trainee = mixed(make_model(), rate=0.5, full_after=None)
    draws = torch.tensor([trainee.draw() for _ in range(2000)])
    differ = (draws[:, 0] != draws[:, 1]).double().mean().item()
    assert differ == pytest.approx(0.5, abs=0.05)


def test_the_loss_is_the_cross_entropy_of_what_was_drawn(make_model: Any) -> None:
    trainee = changed(make_model())
    torch.manual_seed(5)
    losses = [trainee(IDS, MASK, LABELS)["loss"] for _ in range(8)]
    torch.manual_seed(5)
    trainee.step = 0
    draws = [trainee.draw() for _ in range(8)]
    assert len({tuple(each) for each in draws}) > 2
    for loss, replaced in zip(losses, draws, strict=True):
        logits = trainee.logits(replaced, IDS, MASK)
        rows = [-logits[row].log_softmax(0)[label] for row, label in enumerate(LABELS)]
        torch.testing.assert_close(loss, sum(rows) / 3)


def test_the_layers_of_a_module_that_stays_get_no_gradient(make_model: Any) -> None:
    trainee = changed(make_model())
    trainee.logits([False, True], IDS, MASK).sum().backward()
    graded = {name for name, each in trainee.named_parameters() if each.grad is not None}
    assert graded
    assert all(name.startswith("student.encoder.encoder.layer.1.") for name in graded)


def test_a_step_without_replacement_can_be_trained_on(make_model: Any) -> None:
    trainee = mixed(make_model(), rate=1e-9, full_after=None)
    loss = trainee(IDS, MASK, LABELS)["loss"]
    loss.backward()
    assert torch.equal(loss, trainee.teacher(IDS, MASK, labels=LABELS).loss)
    grads = [each.grad for each in trainee.parameters() if each.grad is not None]
    assert grads and not any(each.any() for each in grads)


def test_the_first_part_changes_the_successors_layers_alone(make_model: Any, fit: Fit) -> None:
    model = make_model()
    trainee = mixed(model, num_steps=9)
    before = copy.deepcopy(trainee.state_dict())
    fit(trainee, epochs=3, learning_rate=1e-3)
    after = trainee.state_dict()
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    layers = {name for name in before if name.startswith("student.encoder.encoder.layer.")}
    # A bias of keys moves no softmax, so that its gradient is rounding alone.
    assert {name for name in layers if ".key.bias" not in name} <= moved <= layers
    assert trainee.step == 9


def test_the_second_part_trains_the_whole_successor(make_model: Any, fit: Fit) -> None:
    model = make_model()
    before = copy.deepcopy(model.state_dict())
    settings = ModuleReplacementCompression(
        keep=2, replacing_epochs=1, fine_tuning_epochs=1, learning_rate=1e-3
    )
    successor = settings.compress(model, fit)
    assert all(torch.equal(model.state_dict()[name], before[name]) for name in before)
    embeddings = "encoder.embeddings.word_embeddings.weight"
    assert not torch.equal(successor.state_dict()[embeddings], before[embeddings])
    ours, theirs = successor.exit(2).state_dict(), model.exit(4).state_dict()
    assert not any(torch.equal(ours[name], theirs[name]) for name in ours if "weight" in name)


def test_the_schedule_spans_all_batches_of_the_first_part(
    make_model: Any, fit: Fit, calls: Any
) -> None:
    calls.data = list(fit.batches())
    settings = ModuleReplacementCompression(
        keep=2, replacing_epochs=4, fine_tuning_epochs=0, learning_rate=1e-3
    )
    successor = settings.compress(make_model(), calls)
    (trainee,) = calls.trainees
    assert trainee.num_steps == 4 * 3
    assert calls.settings == [{"epochs": 4, "learning_rate": 1e-3}]
    assert all(each.requires_grad for each in successor.parameters())


def test_the_result_is_a_plain_model(make_model: Any, fit: Fit, tmp_path: Path) -> None:
    settings = ModuleReplacementCompression(keep=2, replacing_epochs=1, fine_tuning_epochs=0)
    successor = settings.compress(make_model(), fit)
    successor.eval().save_pretrained(tmp_path / "successor")
    loaded = MultiExitForSequenceClassification.from_pretrained(tmp_path / "successor")
    assert loaded.num_layers == 2 and loaded.exit_layers == (2,)
    assert torch.equal(loaded(IDS, MASK).logits, successor(IDS, MASK).logits)


def test_the_successor_starts_with_the_first_layers(make_model: Any) -> None:
    model = make_model()
    trainee = mixed(model)
    ours, theirs = trainee.student.encoder.state_dict(), model.encoder.state_dict()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_the_loss_is_float32_under_autocast(make_model: Any) -> None:
    trainee = mixed(make_model())
    with torch.autocast("cpu", torch.bfloat16):
        assert trainee(IDS, MASK, LABELS)["loss"].dtype == torch.float32


@pytest.mark.parametrize("keep", [0, 13])
def test_layers_that_the_predecessor_lacks_are_refused(keep: int) -> None:
    with pytest.raises(ValueError, match=f"keep must be from 1 to 12, found {keep}"):
        ModuleReplacementCompression(keep=keep).num_layers(12)


def test_modules_of_unequal_size_are_refused() -> None:
    with pytest.raises(ValueError, match=r"keep must divide the 12 layers .* found 5"):
        ModuleReplacementCompression(keep=5).num_layers(12)
    assert ModuleReplacementCompression(keep=4).num_layers(12) == 4


@pytest.mark.parametrize("wrong", [{"rate": 0.0}, {"rate": 1.1}, {"full_after": 0.0}])
def test_settings_without_meaning_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be above 0 and at most 1, found"):
        ModuleReplacementCompression(keep=2, **wrong)
