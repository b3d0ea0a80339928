"""The shared core: checks at the border, precision, extremes."""

from typing import Any

import pytest
import torch
from torch import Tensor

from exitwise.losses import (
    aligned_contrastive_loss,
    cross_layer_contrastive_loss,
    supervised_contrastive_loss,
)
from exitwise.losses.contrastive import (
    check_choice,
    check_contrast,
    check_labels,
    contrastive_loss,
    unit_rows,
)
from exitwise.outputs import ExitOutput

BATCHES = {
    "one sample": [0],
    "one class": [1, 1, 1, 1],
    "all different": [0, 1, 2, 3],
    "mixed": [0, 0, 1, 2],
}
DTYPES = [torch.float32, torch.bfloat16, torch.float16]


def exit_output(num_samples: int, dtype: torch.dtype, width: int = 16, k: int = 4) -> ExitOutput:
    embedding = torch.randn(num_samples, width).to(dtype).requires_grad_()
    classes = (torch.randn(k, width) * 0.02).to(dtype).requires_grad_()
    return ExitOutput((embedding @ classes.T).detach(), embedding, classes)


def losses(
    student: ExitOutput, teacher: ExitOutput, labels: Tensor, **settings: Any
) -> dict[str, Tensor]:
    samples, classes = student.embedding, student.label_embeddings
    return {
        "supervised": supervised_contrastive_loss(samples, labels, **settings),
        "aligned": aligned_contrastive_loss(samples, classes, labels, **settings),
        "cross-layer": cross_layer_contrastive_loss(student, teacher, labels, **settings),
    }


@pytest.mark.field_case(28)
@pytest.mark.field_case(35)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("labels", BATCHES.values(), ids=BATCHES.keys())
@pytest.mark.parametrize("denominator", ["paper", "khosla"])
def test_loss_and_gradient_are_finite_at_any_temperature_and_precision(
    denominator: Any, labels: list[int], dtype: torch.dtype
) -> None:
    for temperature in (0.005, 0.01, 0.05, 0.5, 10.0):
        student, teacher = (exit_output(len(labels), dtype) for _ in range(2))
        with torch.autocast("cpu", dtype=dtype, enabled=dtype != torch.float32):
            values = losses(
                student,
                teacher,
                torch.tensor(labels),
                temperature=temperature,
                denominator=denominator,
            )
        for name, loss in values.items():
            assert loss.dtype == torch.float32, name
            assert loss.isfinite(), (name, temperature)
            leaves = [student.embedding, student.label_embeddings]
            for gradient in torch.autograd.grad(loss, leaves, allow_unused=name == "supervised"):
                assert gradient is None or gradient.isfinite().all(), (name, temperature)


@pytest.mark.field_case(35)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_autocast_does_not_lower_the_precision(dtype: torch.dtype) -> None:
    student, teacher = (exit_output(8, torch.float32) for _ in range(2))
    labels = torch.arange(8) % 4
    expected = losses(student, teacher, labels, temperature=0.05)
    with torch.autocast("cpu", dtype=dtype):
        found = losses(student, teacher, labels, temperature=0.05)
    for name, loss in expected.items():
        assert torch.equal(found[name], loss), name


@pytest.mark.field_case(35)
def test_long_half_precision_vectors_do_not_overflow() -> None:
    embeddings = torch.full((4, 64), 6e4, dtype=torch.float16, requires_grad=True)
    loss = supervised_contrastive_loss(embeddings, torch.tensor([0, 0, 1, 1]))
    assert loss.item() == pytest.approx(4 * torch.log(torch.tensor(4.0)).item(), rel=1e-5)
    (gradient,) = torch.autograd.grad(loss, embeddings)
    assert gradient.isfinite().all()


def test_double_precision_stays() -> None:
    student, teacher = (exit_output(4, torch.float64) for _ in range(2))
    for loss in losses(student, teacher, torch.tensor([0, 1, 2, 3])).values():
        assert loss.dtype == torch.float64


@pytest.mark.field_case(39)
def test_a_thousand_labels_with_eight_samples_train() -> None:
    student, teacher = (exit_output(8, torch.float32, width=64, k=1000) for _ in range(2))
    labels = torch.arange(8) * 100
    for name, loss in losses(student, teacher, labels).items():
        assert loss.isfinite(), name
        leaves = [student.embedding, student.label_embeddings]
        for gradient in torch.autograd.grad(loss, leaves, allow_unused=name == "supervised"):
            assert gradient is None or gradient.isfinite().all(), name


def test_anchors_outside_the_mask_are_candidates_only() -> None:
    items = unit_rows(torch.randn(5, 3, dtype=torch.float64))
    labels = torch.tensor([0, 0, 1, 1, 1])
    settings = {"temperature": 0.5, "denominator": "paper", "reduction": "sum"}
    of_each = [contrastive_loss(items, labels, torch.arange(5) == a, **settings) for a in range(5)]
    total = contrastive_loss(items, labels, **settings)
    torch.testing.assert_close(torch.stack(of_each).sum(), total)
    assert len({round(value.item(), 6) for value in of_each}) == 5


@pytest.mark.parametrize("reduction", ["sum", "mean", "mean_valid"])
def test_no_items_give_zero(reduction: Any) -> None:
    labels = torch.zeros(0, dtype=torch.long)
    loss = supervised_contrastive_loss(torch.zeros(0, 4), labels, reduction=reduction)
    assert loss.item() == 0


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"temperature": 0.0}, r"temperature must be positive, found 0\.0"),
        ({"temperature": float("nan")}, "temperature must be positive, found nan"),
        ({"denominator": "own"}, "denominator must be one of paper, khosla, found 'own'"),
        ({"reduction": "max"}, "reduction must be one of sum, mean, mean_valid, found 'max'"),
    ],
)
def test_a_setting_that_does_not_fit_is_named(setting: dict[str, Any], message: str) -> None:
    settings = {"temperature": 0.5, "denominator": "paper", "reduction": "sum"}
    with pytest.raises(ValueError, match=message):
        check_contrast(**settings | setting)


def test_a_choice_that_is_none_is_named() -> None:
    with pytest.raises(ValueError, match="anchors must be one of all, student, found 'teacher'"):
        check_choice("anchors", "teacher", ("all", "student"))


def test_labels_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match=r"shape \(3,\), one a sample, found \(3, 1\)"):
        check_labels(torch.zeros(3, 1, dtype=torch.long), num_samples=3)


@pytest.mark.parametrize("label", [-1, 3])
def test_a_label_that_is_no_class_is_refused(label: int) -> None:
    embeddings, classes = torch.randn(2, 4), torch.randn(3, 4)
    with pytest.raises(ValueError, match=f"labels must be from 0 to 2, found {label}"):
        aligned_contrastive_loss(embeddings, classes, torch.tensor([0, label]))
