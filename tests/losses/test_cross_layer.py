"""ACL-CL: reference values, the formula in loops, and a teacher without gradient."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from exitwise.losses import cross_layer_contrastive_loss, supervised_contrastive_loss
from exitwise.outputs import ExitOutput

CASES = json.loads((Path(__file__).parents[1] / "data" / "reference_values.json").read_text())[
    "acl_cl"
]

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
each_denominator = pytest.mark.parametrize("denominator", ["paper", "khosla"])
each_anchors = pytest.mark.parametrize("anchors", ["all", "student"])


def exit_output(samples: Tensor, matrix: Tensor) -> ExitOutput:
    """Of the matrix W [d, k] as the paper writes it."""
    return ExitOutput(samples @ matrix, samples, matrix.T)


def leaves(case: dict[str, Any], dtype: torch.dtype) -> dict[str, Tensor]:
    names = ("h_student", "W_student", "h_teacher", "W_teacher")
    return {name: torch.tensor(case[name], dtype=dtype, requires_grad=True) for name in names}


def outputs(values: dict[str, Tensor]) -> tuple[ExitOutput, ExitOutput]:
    return (
        exit_output(values["h_student"], values["W_student"]),
        exit_output(values["h_teacher"], values["W_teacher"]),
    )


def random_outputs(num_samples: int = 4, num_classes: int = 3) -> tuple[ExitOutput, ExitOutput]:
    student, teacher = (
        exit_output(
            torch.randn(num_samples, 5, dtype=torch.float64, requires_grad=True),
            torch.randn(5, num_classes, dtype=torch.float64, requires_grad=True),
        )
        for _ in range(2)
    )
    return student, teacher


@each_denominator
@each_anchors
@pytest.mark.parametrize("reduction", ["sum", "mean", "mean_valid"])
@each_case
def test_values_equal_the_reference(
    case: dict[str, Any], reduction: Any, anchors: Any, denominator: Any
) -> None:
    expected = case["denominator"][denominator][f"anchors_{anchors}"][reduction]
    for dtype, rtol, atol in ((torch.float64, 1e-7, 1e-9), (torch.float32, 1e-4, 1e-5)):
        loss = cross_layer_contrastive_loss(
            *outputs(leaves(case, dtype)),
            torch.tensor(case["labels"]),
            anchors=anchors,
            temperature=case["tau"],
            denominator=denominator,
            reduction=reduction,
        )
        torch.testing.assert_close(loss, torch.tensor(expected, dtype=dtype), rtol=rtol, atol=atol)


@each_denominator
@each_anchors
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@each_case
def test_gradients_equal_the_reference(
    assert_equals_reference: Callable[..., None],
    case: dict[str, Any],
    dtype: torch.dtype,
    anchors: Any,
    denominator: Any,
) -> None:
    values = leaves(case, dtype)
    loss = cross_layer_contrastive_loss(
        *outputs(values),
        torch.tensor(case["labels"]),
        anchors=anchors,
        temperature=case["tau"],
        denominator=denominator,
    )
    loss.backward()
    for name in ("h_student", "W_student"):
        key = f"grad_of_sum_anchors_{anchors}_wrt_{name}"
        assert_equals_reference(values[name].grad, case["denominator"][denominator][key])


@each_denominator
@each_anchors
def test_any_batch_equals_the_formula_in_loops(
    loop_terms: Callable[..., list[float]], anchors: Any, denominator: Any
) -> None:
    student, teacher = random_outputs()
    labels = torch.tensor([0, 0, 2, 0])
    loss = cross_layer_contrastive_loss(
        student, teacher, labels, anchors=anchors, temperature=0.3, denominator=denominator
    )
    items = [*student.embedding, *student.label_embeddings]
    items += [*teacher.embedding, *teacher.label_embeddings]
    terms = loop_terms(
        [item.tolist() for item in items],
        [0, 0, 2, 0, 0, 1, 2] * 2,
        temperature=0.3,
        denominator=denominator,
    )
    counted = terms if anchors == "all" else terms[:7]
    assert loss.item() == pytest.approx(sum(counted), rel=1e-12)


@each_denominator
def test_it_is_the_supervised_loss_on_the_items_of_both_exits(denominator: Any) -> None:
    student, teacher = random_outputs()
    labels = torch.tensor([0, 1, 2, 0])
    items = torch.cat(
        [
            student.embedding,
            student.label_embeddings,
            teacher.embedding.detach(),
            teacher.label_embeddings.detach(),
        ]
    )
    own = torch.cat([labels, torch.arange(3)])
    joined = supervised_contrastive_loss(items, torch.cat([own, own]), denominator=denominator)
    loss = cross_layer_contrastive_loss(student, teacher, labels, denominator=denominator)
    torch.testing.assert_close(loss, joined, rtol=1e-12, atol=0.0)


@each_anchors
def test_the_teacher_gets_no_gradient(anchors: Any) -> None:
    student, teacher = random_outputs()
    loss = cross_layer_contrastive_loss(
        student, teacher, torch.tensor([0, 1, 2, 0]), anchors=anchors
    )
    loss.backward()
    assert student.embedding.grad is not None
    assert teacher.embedding.grad is None


def test_every_item_has_a_positive_even_of_an_absent_class() -> None:
    student, teacher = random_outputs(num_samples=1)
    label = torch.tensor([1])
    mean = cross_layer_contrastive_loss(student, teacher, label, reduction="mean")
    valid = cross_layer_contrastive_loss(student, teacher, label, reduction="mean_valid")
    assert torch.equal(mean, valid)


def test_exits_of_different_widths_are_refused_with_both() -> None:
    student, _ = random_outputs()
    teacher = ExitOutput(torch.randn(4, 3), torch.randn(4, 7), torch.randn(3, 7))
    with pytest.raises(ValueError, match="one width, found 5 and 7"):
        cross_layer_contrastive_loss(student, teacher, torch.tensor([0, 1, 2, 0]))
