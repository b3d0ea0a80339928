"""Soft targets: reference values, agreement, and a teacher without gradient."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.functional import cross_entropy

from exitwise.losses import soft_target_loss

CASES = json.loads((Path(__file__).parents[1] / "data" / "reference_values.json").read_text())[
    "kd_soft_targets"
]

each_case = pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case['name']}-T{case['temperature']:g}"
)


@each_case
def test_value_and_gradient_equal_the_reference(case: dict[str, Any]) -> None:
    for dtype, rtol, atol in ((torch.float64, 1e-7, 1e-9), (torch.float32, 1e-4, 1e-5)):
        student = torch.tensor(case["student_logits"], dtype=dtype, requires_grad=True)
        teacher = torch.tensor(case["teacher_logits"], dtype=dtype)
        loss = soft_target_loss(student, teacher, temperature=case["temperature"])
        expected = torch.tensor(case["kl_times_T2_batch_mean"], dtype=dtype)
        torch.testing.assert_close(loss, expected, rtol=rtol, atol=atol)
        (gradient,) = torch.autograd.grad(loss, student)
        target = torch.tensor(case["grad_wrt_student_logits_same_for_both_forms"], dtype=dtype)
        torch.testing.assert_close(gradient, target, rtol=rtol, atol=atol)


@each_case
def test_it_differs_from_cross_entropy_by_the_entropy_of_the_teacher(case: dict[str, Any]) -> None:
    temperature = case["temperature"]
    student, teacher = (
        torch.tensor(case[f"{who}_logits"], dtype=torch.float64) for who in ("student", "teacher")
    )
    targets = (teacher / temperature).softmax(dim=-1)
    entropy = -(targets * targets.log()).sum(dim=-1).mean()
    hard = temperature**2 * cross_entropy(student / temperature, targets)
    assert hard.item() == pytest.approx(case["ce_times_T2_batch_mean"], rel=1e-7)
    loss = soft_target_loss(student, teacher, temperature=temperature)
    torch.testing.assert_close(loss, hard - temperature**2 * entropy)


def test_the_teacher_gets_no_gradient() -> None:
    student, teacher = (torch.randn(3, 4, requires_grad=True) for _ in range(2))
    soft_target_loss(student, teacher).backward()
    assert student.grad is not None
    assert teacher.grad is None


@pytest.mark.field_case(35)
def test_half_precision_logits_far_apart_stay_finite() -> None:
    student = torch.tensor([[6e4, -6e4]], dtype=torch.float16, requires_grad=True)
    loss = soft_target_loss(student, -student)
    assert loss.dtype == torch.float32
    assert loss.isfinite()
    (gradient,) = torch.autograd.grad(loss, student)
    assert gradient.isfinite().all()


def test_a_temperature_that_is_not_positive_is_refused_with_its_value() -> None:
    logits = torch.zeros(1, 2)
    with pytest.raises(ValueError, match=r"temperature must be positive, found 0\.0"):
        soft_target_loss(logits, logits, temperature=0.0)
