"""Tests of exitwise.compression.distillation."""

import copy
import math
from pathlib import Path
from typing import Any

import pytest
import torch

from exitwise.compression import DistillationCompression, Fit, with_layers
from exitwise.compression.distillation import DistilledStudent, cosine_distance, one_out_of
from exitwise.modeling import MultiExitForSequenceClassification

IDS = torch.tensor([[2, 9, 11, 3, 0, 0], [2, 5, 6, 7, 8, 3], [2, 13, 3, 0, 0, 0]])
MASK = (IDS != 0).long()
LABELS = torch.tensor([0, 1, 1])


def outspoken(model: Any) -> Any:
    """The model with answers far from even."""
    with torch.no_grad():
        for parameter in model.exits.parameters():
            parameter.mul_(20.0)
    return model


def softmax(row: list[float], temperature: float) -> list[float]:
    powers = [math.exp(value / temperature) for value in row]
    return [power / sum(powers) for power in powers]


def naive_loss(student: Any, teacher: Any, settings: DistillationCompression) -> float:
    """The paper's three terms, number by number."""
    states, logits = [], []
    for model in (student, teacher):
        hidden, _ = model.hidden_states(IDS, MASK, layers=[model.num_layers])
        states.append(hidden[model.num_layers].tolist())
        logits.append(model(IDS, MASK).logits.tolist())
    soft = hard = 0.0
    for own, taught, label in zip(*logits, LABELS.tolist(), strict=True):
        p, q = softmax(taught, settings.temperature), softmax(own, settings.temperature)
        soft += sum(a * math.log(a / b) for a, b in zip(p, q, strict=True)) / len(LABELS)
        hard -= math.log(softmax(own, 1.0)[label]) / len(LABELS)
    distances = []
    for text, token in MASK.nonzero().tolist():
        a, b = states[0][text][token], states[1][text][token]
        dot = sum(x * y for x, y in zip(a, b, strict=True))
        distances.append(1 - dot / math.hypot(*a) / math.hypot(*b))
    return (
        settings.soft_weight * settings.temperature**2 * soft
        + settings.label_weight * hard
        + settings.cosine_weight * sum(distances) / len(distances)
    )


@pytest.mark.parametrize("weights", [(5.0, 2.0, 1.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)])
def test_the_loss_is_the_sum_of_three_terms(
    make_model: Any, weights: tuple[float, float, float]
) -> None:
    soft, label, cosine = weights
    settings = DistillationCompression(
        keep=2, temperature=3.0, soft_weight=soft, label_weight=label, cosine_weight=cosine
    )
    model = outspoken(make_model())
    student = with_layers(model, (1, 4))
    loss = DistilledStudent(student, model, settings)(IDS, MASK, LABELS)["loss"]
    expected = naive_loss(student, model, settings)
    assert expected > 1e-3
    assert loss.item() == pytest.approx(expected, rel=1e-4)


def test_what_stands_in_padding_changes_no_distance() -> None:
    student, teacher = torch.randn(2, 3, 6, 16).unbind()
    before = cosine_distance(student, teacher, MASK)
    student[MASK == 0] = 1e4
    assert torch.equal(cosine_distance(student, teacher, MASK), before)


def test_a_student_of_all_layers_has_nothing_to_learn_from_its_teacher(make_model: Any) -> None:
    settings = DistillationCompression(keep=4, label_weight=0.0)
    model = make_model()
    trainee = DistilledStudent(with_layers(model, one_out_of(4, 4)), model, settings)
    assert trainee(IDS, MASK, LABELS)["loss"].item() == pytest.approx(0.0, abs=1e-5)


def test_the_loss_is_float32_under_autocast(make_model: Any) -> None:
    model = make_model()
    trainee = DistilledStudent(with_layers(model, (1, 4)), model, DistillationCompression(keep=2))
    with torch.autocast("cpu", torch.bfloat16):
        loss = trainee(IDS, MASK, LABELS)["loss"]
    assert loss.dtype == torch.float32
    assert loss.item() == pytest.approx(trainee(IDS, MASK, LABELS)["loss"].item(), rel=0.05)


def test_the_student_starts_as_its_layers_of_the_teacher(make_model: Any, calls: Any) -> None:
    model = make_model()
    student = DistillationCompression(keep=3).compress(model, calls)
    assert [each.student for each in calls.trainees] == [student]
    for place, layer in enumerate((1, 3, 4)):
        ours = student.encoder.encoder.layer[place].state_dict()
        theirs = model.encoder.encoder.layer[layer - 1].state_dict()
        assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


def test_training_brings_the_student_nearer_and_leaves_the_teacher(
    make_model: Any, fit: Fit, tmp_path: Path
) -> None:
    settings = DistillationCompression(keep=2, epochs=4, learning_rate=2e-3, label_weight=0.0)
    model = make_model()
    before = copy.deepcopy(model.state_dict())
    start = DistilledStudent(with_layers(model, (1, 4)), model, settings)(IDS, MASK, LABELS)["loss"]
    student = settings.compress(model, fit)
    assert all(torch.equal(model.state_dict()[name], before[name]) for name in before)
    end = DistilledStudent(student, model, settings)(IDS, MASK, LABELS)["loss"]
    assert end < 0.7 * start
    student.eval().save_pretrained(tmp_path / "student")
    loaded = MultiExitForSequenceClassification.from_pretrained(tmp_path / "student")
    assert loaded.num_layers == 2 and loaded.exit_layers == (2,)
    assert torch.equal(loaded(IDS, MASK).logits, student(IDS, MASK).logits)


def test_the_exit_has_its_own_rate(make_model: Any, fit: Fit) -> None:
    model = make_model()
    settings = DistillationCompression(
        keep=2, epochs=1, learning_rate=1e-12, exit_learning_rate=1e-2
    )
    student = settings.compress(model, fit)
    start = with_layers(model, (1, 4)).state_dict()
    moved = {
        name
        for name, tensor in student.state_dict().items()
        if (tensor - start[name]).abs().max() > 1e-4
    }
    assert moved == {name for name in start if name.startswith("exits.")}


@pytest.mark.parametrize("keep", [0, 5])
def test_layers_that_the_teacher_lacks_are_refused(keep: int) -> None:
    with pytest.raises(ValueError, match=f"keep must be from 1 to 4, found {keep}"):
        DistillationCompression(keep=keep).num_layers(4)


@pytest.mark.parametrize("kept", range(1, 13))
def test_layers_ascend_and_hold_first_and_last(kept: int) -> None:
    layers = one_out_of(kept, 12)
    assert len(layers) == kept and sorted(set(layers)) == list(layers)
    assert layers[0] == 1 and (kept == 1 or layers[-1] == 12)


@pytest.mark.parametrize("wrong", [{"temperature": 0.0}, {"cosine_weight": -1.0}])
def test_settings_without_meaning_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="found"):
        DistillationCompression(keep=2, **wrong)
