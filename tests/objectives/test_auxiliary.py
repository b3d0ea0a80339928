"""The family of auxiliary losses: what every registered member keeps to."""

from dataclasses import fields, is_dataclass
from typing import Any

import pytest
import torch
from torch import Tensor

from exitwise.losses import (
    aligned_contrastive_loss,
    cross_layer_contrastive_loss,
    supervised_contrastive_loss,
)
from exitwise.objectives import (
    AlignedContrast,
    Auxiliary,
    CrossLayerContrast,
    SupervisedContrast,
)
from exitwise.outputs import ExitOutput

each_member = pytest.mark.parametrize("member", Auxiliary.registry.values(), ids=str)
LABELS = torch.tensor([0, 1, 1, 2])


def exit_output() -> ExitOutput:
    embedding, classes = (torch.randn(n, 5, requires_grad=True) for n in (4, 3))
    return ExitOutput(embedding @ classes.T, embedding, classes)


def test_the_three_losses_of_the_paper_are_registered() -> None:
    assert list(Auxiliary.registry) == ["aligned", "cross_layer", "supervised"]


@each_member
def test_a_member_is_frozen_settings_of_plain_values(member: Any) -> None:
    assert is_dataclass(member)
    auxiliary = member()
    assert all(isinstance(getattr(auxiliary, f.name), str | float | bool) for f in fields(member))
    assert auxiliary == member()
    assert hash(auxiliary) == hash(member())
    with pytest.raises(AttributeError):
        auxiliary.temperature = 1.0


@each_member
def test_a_member_gives_a_finite_loss_whose_gradient_reaches_the_student_alone(
    member: Any,
) -> None:
    student, teacher = exit_output(), exit_output()
    loss = member()(student, LABELS, teacher=teacher)
    loss.backward()
    assert loss.shape == ()
    assert loss.isfinite()
    assert student.embedding.grad is not None
    assert student.embedding.grad.abs().sum() > 0
    assert teacher.embedding.grad is None
    assert teacher.label_embeddings.grad is None


@each_member
def test_a_member_learns_something_from_a_batch_exactly_if_it_says_so(member: Any) -> None:
    for labels in (torch.tensor([0, 1, 2, 2]), torch.tensor([0, 1, 2, 3])):
        student, teacher = exit_output(), exit_output()
        student = student._replace(label_embeddings=torch.randn(4, 5))
        teacher = teacher._replace(label_embeddings=torch.randn(4, 5))
        loss = member()(student, labels, teacher=teacher)
        assert member().has_positive(labels).item() == (loss.item() > 0)


@each_member
def test_a_member_without_the_teacher_that_it_needs_is_an_error(member: Any) -> None:
    if member.needs_teacher:
        with pytest.raises(ValueError, match="needs the output of a teacher exit"):
            member()(exit_output(), LABELS)
    else:
        assert member()(exit_output(), LABELS).isfinite()


@each_member
@pytest.mark.parametrize("temperature", [0.0, -0.5])
def test_a_member_refuses_a_temperature_that_is_not_positive(
    member: Any, temperature: float
) -> None:
    with pytest.raises(ValueError, match=f"temperature must be positive, found {temperature}"):
        member(temperature=temperature)


SHARED: dict[str, Any] = {
    "temperature": 0.2,
    "denominator": "khosla",
    "reduction": "mean_valid",
    "normalize": False,
}
OWN: dict[str, Any] = {"normalize_label_embeddings": False}


def expected_values(student: ExitOutput, teacher: ExitOutput) -> list[tuple[Auxiliary, Tensor]]:
    samples, classes = student.embedding, student.label_embeddings
    return [
        (SupervisedContrast(**SHARED), supervised_contrastive_loss(samples, LABELS, **SHARED)),
        (
            AlignedContrast(**SHARED, **OWN, anchors="samples"),
            aligned_contrastive_loss(samples, classes, LABELS, **SHARED, **OWN, anchors="samples"),
        ),
        (
            CrossLayerContrast(**SHARED, **OWN, anchors="student"),
            cross_layer_contrastive_loss(
                student, teacher, LABELS, **SHARED, **OWN, anchors="student"
            ),
        ),
    ]


def test_every_setting_reaches_the_loss() -> None:
    student, teacher = exit_output(), exit_output()
    values = expected_values(student, teacher)
    assert {type(auxiliary) for auxiliary, _ in values} == set(Auxiliary.registry.values())
    for auxiliary, expected in values:
        found = auxiliary(student, LABELS, teacher=teacher)
        assert torch.equal(found, expected)
        assert not torch.equal(found, type(auxiliary)()(student, LABELS, teacher=teacher))
