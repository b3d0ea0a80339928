"""Tests of exitwise.compression.layerwise_distillation."""

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from exitwise.compression import (
    Fit,
    LayerwiseDistillationCompression,
    spread,
    with_layers,
)
from exitwise.compression.layerwise_distillation import (
    AnsweringStudent,
    LayerwiseStudent,
    mean_squared_error,
)
from exitwise.errors import UnsupportedError
from exitwise.losses import soft_target_loss
from exitwise.modeling import MultiExitForSequenceClassification

IDS = torch.tensor([[2, 9, 11, 3, 0, 0], [2, 5, 6, 7, 8, 3], [2, 13, 3, 0, 0, 0]])
MASK = (IDS != 0).long()
LABELS = torch.tensor([0, 1, 1])


def library_states(model: Any) -> list[Tensor]:
    """The states before the first and after each layer, as the library gives them."""
    states = model.encoder(IDS, MASK, output_hidden_states=True).hidden_states
    return [each.detach() for each in states]


def library_scores(model: Any, layer: int, hidden: Tensor) -> Tensor:
    """Scores of two heads of width eight, in loops over heads."""
    attention = model.encoder.encoder.layer[layer - 1].attention.self
    query, key = attention.query(hidden), attention.key(hidden)
    heads = [slice(0, 8), slice(8, 16)]
    return torch.stack(
        [query[:, :, each] @ key[:, :, each].mT / 8**0.5 for each in heads], dim=1
    ).detach()


def naive_loss(trainee: LayerwiseStudent, layers: tuple[int, ...]) -> float:
    """The paper's sum, with means over tokens and pairs of tokens, one by one."""
    own, taught = library_states(trainee.student), library_states(trainee.teacher)
    tokens = [tuple(each) for each in MASK.nonzero().tolist()]
    maps = [trainee.embedding_map.weight.detach()]
    maps += [trainee.hidden_map.weight.detach()] * len(layers)
    total = 0.0
    for place, (layer, weight) in enumerate(zip((0, *layers), maps, strict=True)):
        squares = [
            float(((weight @ own[place][at] - taught[layer][at]) ** 2).mean()) for at in tokens
        ]
        total += sum(squares) / len(squares)
    for place, layer in enumerate(layers, start=1):
        ours = library_scores(trainee.student, place, own[place - 1])
        theirs = library_scores(trainee.teacher, layer, taught[layer - 1])
        squares = [
            float((ours[text, head, a, b] - theirs[text, head, a, b]) ** 2)
            for text, a in tokens
            for other, b in tokens
            if text == other
            for head in range(2)
        ]
        total += sum(squares) / len(squares)
    return total


@pytest.mark.parametrize("layers", [(2, 4), (2, 3, 4), (4,)])
def test_the_loss_compares_embeddings_states_and_scores(
    make_model: Any, layers: tuple[int, ...]
) -> None:
    model = make_model()
    trainee = LayerwiseStudent(with_layers(model, layers), model, layers)
    with torch.no_grad():
        for parameter in (trainee.embedding_map.weight, trainee.hidden_map.weight):
            parameter.add_(0.1 * torch.randn_like(parameter))
        trainee.student.encoder.embeddings.word_embeddings.weight.mul_(1.1)
    loss = trainee(IDS, MASK, LABELS)["loss"]
    assert loss.item() == pytest.approx(naive_loss(trainee, layers), rel=1e-4)


def test_padding_counts_nowhere(make_model: Any) -> None:
    model = make_model()
    trainee = LayerwiseStudent(with_layers(model, (2, 4)), model, (2, 4))
    longer = torch.nn.functional.pad(IDS, (0, 3), value=7)
    mask = torch.nn.functional.pad(MASK, (0, 3))
    expected = trainee(IDS, MASK, LABELS)["loss"]
    torch.testing.assert_close(trainee(longer, mask, LABELS)["loss"], expected)


def test_an_infinite_error_at_padding_has_no_gradient() -> None:
    student = torch.tensor([[1.0, 2.0], [torch.inf, 0.0]], requires_grad=True)
    mean_squared_error(student, torch.zeros(2, 2), torch.tensor([[True], [False]])).backward()
    assert torch.equal(student.grad, torch.tensor([[1.0, 2.0], [0.0, 0.0]]))


def test_a_student_of_all_layers_has_no_loss_in_either_step(make_model: Any) -> None:
    model = make_model()
    student = with_layers(model, spread(4, 4))
    assert LayerwiseStudent(student, model, spread(4, 4))(IDS, MASK, LABELS)["loss"].item() == 0.0
    answering = AnsweringStudent(student, model, temperature=1.0)
    assert answering(IDS, MASK, LABELS)["loss"].item() == 0.0


def test_the_second_step_compares_answers_alone(make_model: Any) -> None:
    model = make_model()
    with torch.no_grad():
        for parameter in model.exits.parameters():
            parameter.mul_(20.0)  # answers far from even
    student = with_layers(model, (2, 4))
    loss = AnsweringStudent(student, model, temperature=2.0)(IDS, MASK, LABELS)["loss"]
    logits = student(IDS, MASK).logits, model(IDS, MASK).logits
    torch.testing.assert_close(loss, soft_target_loss(*logits, temperature=2.0))
    assert loss > 1e-4


def test_the_exit_learns_nothing_from_layers(make_model: Any) -> None:
    model = make_model()
    trainee = LayerwiseStudent(with_layers(model, (2, 4)), model, (2, 4))
    trainee(IDS, MASK, LABELS)["loss"].backward()
    graded = {name for name, each in trainee.named_parameters() if each.grad is not None}
    assert {name for name, _ in trainee.named_parameters()} - graded == {
        name
        for name, _ in trainee.named_parameters()
        if name.startswith(("teacher.", "student.exits."))
    }


def test_the_loss_is_float32_under_autocast(make_model: Any) -> None:
    model = make_model()
    trainee = LayerwiseStudent(with_layers(model, (2, 4)), model, (2, 4))
    with torch.autocast("cpu", torch.bfloat16):
        loss = trainee(IDS, MASK, LABELS)["loss"]
    loss.backward()
    assert loss.dtype == torch.float32
    assert loss.item() == pytest.approx(trainee(IDS, MASK, LABELS)["loss"].item(), rel=0.05)


def test_the_first_step_brings_states_nearer_and_is_told_apart_from_the_second(
    make_model: Any, fit: Fit
) -> None:
    model = make_model()
    before = copy.deepcopy(model.state_dict())
    student = with_layers(model, (2, 4))
    trainee = LayerwiseStudent(student, model, (2, 4))
    start = trainee(IDS, MASK, LABELS)["loss"].item()
    exit_before = copy.deepcopy(student.exits.state_dict())
    fit(trainee, epochs=6, learning_rate=2e-3)
    assert trainee(IDS, MASK, LABELS)["loss"].item() < 0.7 * start
    assert all(torch.equal(model.state_dict()[name], before[name]) for name in before)
    assert all(
        torch.equal(student.exits.state_dict()[name], exit_before[name]) for name in exit_before
    )
    assert not torch.equal(trainee.hidden_map.weight, torch.eye(16))


def test_the_result_is_a_plain_model_without_maps(
    make_model: Any, fit: Fit, tmp_path: Path
) -> None:
    model = make_model()
    settings = LayerwiseDistillationCompression(keep=2, intermediate_epochs=1, prediction_epochs=1)
    before = copy.deepcopy(model.state_dict())
    student = settings.compress(model, fit)
    assert all(torch.equal(model.state_dict()[name], before[name]) for name in before)
    assert student.state_dict().keys() == with_layers(model, (2, 4)).state_dict().keys()
    student.eval().save_pretrained(tmp_path / "student")
    loaded = MultiExitForSequenceClassification.from_pretrained(tmp_path / "student")
    assert loaded.num_layers == 2 and loaded.exit_layers == (2,)
    assert torch.equal(loaded(IDS, MASK).logits, student(IDS, MASK).logits)


def test_layers_come_before_answers_each_with_its_own_settings(make_model: Any, calls: Any) -> None:
    settings = LayerwiseDistillationCompression(
        keep=2,
        intermediate_epochs=5,
        intermediate_learning_rate=1e-3,
        prediction_epochs=2,
        prediction_learning_rate=1e-4,
        exit_learning_rate=1e-2,
    )
    student = settings.compress(make_model(), calls)
    assert [type(each) for each in calls.trainees] == [LayerwiseStudent, AnsweringStudent]
    assert all(each.student is student for each in calls.trainees)
    assert calls.trainees[0].layers == (2, 4)
    assert calls.settings == [
        {"epochs": 5, "learning_rate": 1e-3},
        {"epochs": 2, "learning_rate": 1e-4, "exit_learning_rate": 1e-2},
    ]


def test_without_epochs_for_answers_the_layers_are_all(make_model: Any, calls: Any) -> None:
    LayerwiseDistillationCompression(keep=2, prediction_epochs=0).compress(make_model(), calls)
    assert len(calls.trainees) == 1


def test_encoders_without_plain_scores_are_refused_before_training(
    make_model: Any, calls: Any
) -> None:
    with pytest.raises(UnsupportedError, match="mpnet"):
        LayerwiseDistillationCompression(keep=2).compress(make_model("mpnet"), calls)
    assert not calls.trainees


@pytest.mark.parametrize("keep", [0, 5])
def test_layers_that_the_teacher_lacks_are_refused(keep: int) -> None:
    with pytest.raises(ValueError, match=f"keep must be from 1 to 4, found {keep}"):
        LayerwiseDistillationCompression(keep=keep).num_layers(4)
