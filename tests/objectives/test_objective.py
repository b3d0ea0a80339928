"""An objective: its terms, its teacher, its checks, and the ready-made ones."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.nn.functional import cross_entropy

from exitwise.gradients import GradientGate
from exitwise.losses import aligned_contrastive_loss, soft_target_loss
from exitwise.objectives import (
    AlignedContrast,
    CrossLayerContrast,
    Objective,
    SoftTargets,
    SupervisedContrast,
)
from exitwise.outputs import ExitOutput

LABELS = torch.tensor([0, 1, 1, 2])
READY_MADE = [Objective.cross_entropy(), Objective.scl(), Objective.acl(), Objective.acl_cl()]


def exit_output(dtype: torch.dtype = torch.float32) -> ExitOutput:
    embedding, classes = (torch.randn(n, 5, dtype=dtype, requires_grad=True) for n in (4, 3))
    return ExitOutput(embedding @ classes.T, embedding, classes)


def test_terms_are_the_losses_of_the_exit() -> None:
    student, teacher = exit_output(), exit_output()
    objective = Objective(
        auxiliary=AlignedContrast(temperature=0.3), soft_targets=SoftTargets(temperature=2.0)
    )
    terms = objective(student, LABELS, teacher=teacher)
    assert torch.equal(terms.primary, cross_entropy(student.logits, LABELS))
    expected = aligned_contrastive_loss(
        student.embedding, student.label_embeddings, LABELS, temperature=0.3
    )
    assert terms.auxiliary is not None
    assert torch.equal(terms.auxiliary, expected)  # without its weight
    distilled = soft_target_loss(student.logits, teacher.logits, temperature=2.0)
    assert terms.soft_targets is not None
    assert torch.equal(terms.soft_targets, distilled)


def test_soft_targets_carry_their_weight() -> None:
    student, teacher = exit_output(), exit_output()
    whole, half = (
        Objective(soft_targets=SoftTargets(weight=weight))(student, LABELS, teacher=teacher)
        for weight in (1.0, 0.5)
    )
    assert whole.soft_targets is not None
    assert half.soft_targets is not None
    torch.testing.assert_close(half.soft_targets, whole.soft_targets / 2)


def test_cross_entropy_alone_has_no_other_term() -> None:
    terms = Objective.cross_entropy()(exit_output(), LABELS)
    assert terms[1:4] == (None, None, None)


def test_soft_targets_of_weight_zero_need_no_teacher_and_give_no_term() -> None:
    objective = Objective(soft_targets=SoftTargets(weight=0.0))
    assert not objective.needs_teacher
    for teacher in (None, exit_output()):
        assert objective(exit_output(), LABELS, teacher=teacher).soft_targets is None


@pytest.mark.parametrize("objective", READY_MADE, ids=["ce", "scl", "acl", "acl_cl"])
def test_the_teacher_gets_no_gradient(objective: Objective) -> None:
    student, teacher = exit_output(), exit_output()
    terms = objective(student, LABELS, teacher=teacher)
    sum(term for term in terms[:3] if term is not None).backward()
    assert student.embedding.grad is not None
    assert teacher.embedding.grad is None


@pytest.mark.parametrize(
    "objective",
    [Objective(soft_targets=SoftTargets()), Objective(auxiliary=CrossLayerContrast())],
)
def test_a_missing_teacher_is_an_error_before_anything_is_computed(objective: Objective) -> None:
    assert objective.needs_teacher
    with pytest.raises(ValueError, match="needs the output of a teacher exit, found none"):
        objective(exit_output(), LABELS)


@pytest.mark.field_case(32)
def test_class_weights_act_on_cross_entropy_alone() -> None:
    student = exit_output()
    weights = torch.tensor([1.0, 2.0, 5.0])
    plain = Objective.acl()(student, LABELS)
    weighted = Objective.acl()(student, LABELS, class_weights=weights)
    assert torch.equal(weighted.primary, cross_entropy(student.logits, LABELS, weight=weights))
    assert not torch.equal(weighted.primary, plain.primary)
    assert weighted.auxiliary is not None
    assert plain.auxiliary is not None
    assert torch.equal(weighted.auxiliary, plain.auxiliary)


@pytest.mark.field_case(24)
def test_batches_without_a_positive_can_be_counted() -> None:
    lonely, student = torch.tensor([0, 1, 2, 3]), exit_output()
    terms = Objective.scl()(student._replace(logits=torch.randn(4, 4)), lonely)
    assert terms.has_positive is not None
    assert not terms.has_positive
    assert terms.auxiliary is not None
    assert terms.auxiliary.item() == 0
    found = Objective.scl()(student, LABELS).has_positive
    assert found is not None
    assert found


@pytest.mark.field_case(26)
@pytest.mark.parametrize("objective", READY_MADE, ids=["ce", "scl", "acl", "acl_cl"])
def test_a_batch_of_one_gives_finite_terms(objective: Objective) -> None:
    def single(output: ExitOutput) -> ExitOutput:
        return ExitOutput(output.logits[:1], output.embedding[:1], output.label_embeddings)

    terms = objective(single(exit_output()), LABELS[:1], teacher=single(exit_output()))
    assert all(term is None or term.isfinite() for term in terms[:3])


@pytest.mark.field_case(35)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("has_autocast", [True, False])
def test_terms_of_half_precision_outputs_are_float32(
    dtype: torch.dtype, has_autocast: bool
) -> None:
    student, teacher = exit_output(dtype), exit_output(dtype)
    with torch.autocast("cpu", dtype=dtype, enabled=has_autocast):
        terms = Objective.acl_cl()(student, LABELS, teacher=teacher)
    assert [term.dtype for term in terms[:3] if term is not None] == [torch.float32] * 3


def test_ready_made_objectives_are_those_of_the_paper() -> None:
    ce, scl, acl, acl_cl = READY_MADE
    assert ce == Objective()
    assert scl == Objective(auxiliary=SupervisedContrast(), weight=0.02, gate=None)
    assert acl == Objective(auxiliary=AlignedContrast(), gate=GradientGate(max_angle=90.0))
    assert acl_cl == Objective(
        auxiliary=CrossLayerContrast(),
        gate=GradientGate(),
        soft_targets=SoftTargets(weight=1.0, temperature=1.0),
    )
    assert [objective.needs_teacher for objective in READY_MADE] == [False, False, False, True]


def test_a_row_of_the_ablation_is_a_change_of_one_field() -> None:
    row = replace(Objective.acl_cl(), auxiliary=AlignedContrast())
    assert row.needs_teacher  # for the soft targets
    assert not replace(row, soft_targets=None).needs_teacher


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weight": -0.1}, r"weight must be from 0 to 1, found -0\.1"),
        ({"weight": 1.5}, r"weight must be from 0 to 1, found 1\.5"),
        ({"gate": GradientGate()}, "a gate needs an auxiliary loss"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Objective(**settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weight": -1.0}, r"weight of soft targets must be 0 or more, found -1\.0"),
        ({"temperature": 0.0}, r"temperature must be positive, found 0\.0"),
    ],
)
def test_soft_targets_that_do_not_fit_are_refused(settings: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SoftTargets(**settings)
