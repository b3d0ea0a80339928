"""ACL-Embed: reference values, the formula in loops, and what label embeddings do."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from exitwise.losses import aligned_contrastive_loss, supervised_contrastive_loss

CASES = json.loads((Path(__file__).parents[1] / "data" / "reference_values.json").read_text())[
    "acl_embed"
]

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
each_denominator = pytest.mark.parametrize("denominator", ["paper", "khosla"])
each_anchors = pytest.mark.parametrize("anchors", ["all", "samples", "labels"])
each_reduction = pytest.mark.parametrize("reduction", ["sum", "mean", "mean_valid"])


def inputs(case: dict[str, Any], dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    """Samples, the matrix W [d, k] of the paper, labels."""
    samples = torch.tensor(case["h"], dtype=dtype, requires_grad=True)
    matrix = torch.tensor(case["W"], dtype=dtype, requires_grad=True)
    return samples, matrix, torch.tensor(case["labels"])


def batch(num_samples: int, num_classes: int, width: int = 5) -> tuple[Tensor, Tensor]:
    samples = torch.randn(num_samples, width, dtype=torch.float64, requires_grad=True)
    classes = torch.randn(num_classes, width, dtype=torch.float64, requires_grad=True)
    return samples, classes


@each_denominator
@each_anchors
@each_reduction
@each_case
def test_values_equal_the_reference(
    case: dict[str, Any], reduction: Any, anchors: Any, denominator: Any
) -> None:
    expected = case["denominator"][denominator][f"anchors_{anchors}"][reduction]
    for dtype, rtol, atol in ((torch.float64, 1e-7, 1e-9), (torch.float32, 1e-4, 1e-5)):
        samples, matrix, labels = inputs(case, dtype)
        loss = aligned_contrastive_loss(
            samples,
            matrix.T,
            labels,
            anchors=anchors,
            temperature=case["tau"],
            denominator=denominator,
            reduction=reduction,
        )
        torch.testing.assert_close(loss, torch.tensor(expected, dtype=dtype), rtol=rtol, atol=atol)


@each_denominator
@each_reduction
@each_case
def test_combined_loss_equals_the_reference(
    case: dict[str, Any], reduction: Any, denominator: Any
) -> None:
    samples, matrix, labels = inputs(case, torch.float64)
    primary = cross_entropy(samples @ matrix, labels)
    auxiliary = aligned_contrastive_loss(
        samples,
        matrix.T,
        labels,
        temperature=case["tau"],
        denominator=denominator,
        reduction=reduction,
    )
    expected = case["denominator"][denominator]["combined_lambda_0.02"][reduction]
    assert primary.item() == pytest.approx(case["cross_entropy_mean"], rel=1e-7, abs=1e-9)
    assert (0.98 * primary + 0.02 * auxiliary).item() == pytest.approx(expected, rel=1e-7)


@each_denominator
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@each_case
def test_gradients_equal_the_reference(
    assert_equals_reference: Callable[..., None],
    case: dict[str, Any],
    dtype: torch.dtype,
    denominator: Any,
) -> None:
    values = case["denominator"][denominator]
    samples, matrix, labels = inputs(case, dtype)
    loss = aligned_contrastive_loss(
        samples, matrix.T, labels, temperature=case["tau"], denominator=denominator
    )
    is_relative = case["name"] == "large_norms"
    for name, found in zip("hW", torch.autograd.grad(loss, [samples, matrix]), strict=True):
        expected = values[f"grad_of_sum_all_anchors_wrt_{name}"]
        assert_equals_reference(found, expected, is_relative=is_relative)


@each_case
def test_gradients_of_cross_entropy_equal_the_reference(
    assert_equals_reference: Callable[..., None], case: dict[str, Any]
) -> None:
    samples, matrix, labels = inputs(case, torch.float64)
    primary = cross_entropy(samples @ matrix, labels)
    for name, found in zip("hW", torch.autograd.grad(primary, [samples, matrix]), strict=True):
        assert_equals_reference(found, case[f"grad_cross_entropy_wrt_{name}"])


@each_denominator
@each_anchors
def test_any_batch_equals_the_formula_in_loops(
    loop_terms: Callable[..., list[float]], anchors: Any, denominator: Any
) -> None:
    samples, classes = batch(6, 4)
    labels = torch.tensor([0, 0, 1, 3, 3, 3])
    loss = aligned_contrastive_loss(
        samples, classes, labels, anchors=anchors, temperature=0.3, denominator=denominator
    )
    terms = loop_terms(
        samples.tolist() + classes.tolist(),
        [*labels.tolist(), 0, 1, 2, 3],
        temperature=0.3,
        denominator=denominator,
    )
    counted = {"all": terms, "samples": terms[:6], "labels": terms[6:]}[anchors]
    assert loss.item() == pytest.approx(sum(counted), rel=1e-12)


@each_denominator
@each_reduction
def test_it_is_the_supervised_loss_on_samples_and_label_embeddings(
    reduction: Any, denominator: Any
) -> None:
    samples, classes = batch(6, 3)
    labels = torch.tensor([0, 1, 1, 0, 1, 1])
    settings = {"reduction": reduction, "denominator": denominator}
    aligned = aligned_contrastive_loss(samples, classes, labels, **settings)
    joined = supervised_contrastive_loss(
        torch.cat([samples, classes]), torch.cat([labels, torch.arange(3)]), **settings
    )
    assert torch.equal(aligned, joined)


@each_denominator
def test_the_label_embedding_of_an_absent_class_is_a_negative_and_gets_gradient(
    denominator: Any,
) -> None:
    samples, classes = batch(4, 3)
    labels = torch.tensor([0, 0, 1, 1])
    of_absent = aligned_contrastive_loss(
        samples, classes, labels, anchors="labels", denominator=denominator
    )
    of_present = aligned_contrastive_loss(
        samples, classes, labels, anchors="labels", denominator=denominator, reduction="mean_valid"
    )
    assert of_absent.item() == pytest.approx(2 * of_present.item())  # two of three have a term
    loss = aligned_contrastive_loss(samples, classes, labels, denominator=denominator)
    (gradient,) = torch.autograd.grad(loss, classes)
    assert gradient[2].norm() > 1e-3


@pytest.mark.field_case(23)
@pytest.mark.field_case(26)
@pytest.mark.parametrize("labels", [[0], [2, 0, 1]], ids=["one sample", "all different"])
def test_label_embeddings_give_lonely_samples_a_useful_loss(labels: list[int]) -> None:
    samples, classes = batch(len(labels), 3)
    loss = aligned_contrastive_loss(samples, classes, torch.tensor(labels))
    assert loss.item() > 0
    for gradient in torch.autograd.grad(loss, [samples, classes]):
        assert gradient.isfinite().all()
        assert (gradient.norm(dim=-1) > 0).all()


def test_length_of_a_label_embedding_plays_no_part_but_shortens_its_gradient() -> None:
    samples, classes = batch(4, 2)
    labels = torch.tensor([0, 1, 1, 0])
    short = (classes * 0.1).detach().requires_grad_()
    loss = aligned_contrastive_loss(samples, classes, labels)
    other = aligned_contrastive_loss(samples, short, labels)
    torch.testing.assert_close(loss, other)
    (expected,), (found,) = torch.autograd.grad(loss, classes), torch.autograd.grad(other, short)
    torch.testing.assert_close(found, expected * 10)


@pytest.mark.parametrize("normalize_samples", [True, False])
@pytest.mark.parametrize("normalize_classes", [True, False])
def test_samples_and_label_embeddings_are_normalised_each_on_its_own(
    loop_terms: Callable[..., list[float]], normalize_samples: bool, normalize_classes: bool
) -> None:
    samples, classes = batch(4, 2)
    labels = torch.tensor([0, 1, 1, 0])
    loss = aligned_contrastive_loss(
        samples,
        classes,
        labels,
        normalize=normalize_samples,
        normalize_label_embeddings=normalize_classes,
    )
    items = [
        vectors / vectors.norm(dim=-1, keepdim=True) if is_normalised else vectors
        for vectors, is_normalised in ((samples, normalize_samples), (classes, normalize_classes))
    ]
    terms = loop_terms(
        torch.cat(items).tolist(),
        [0, 1, 1, 0, 0, 1],
        temperature=0.5,
        denominator="paper",
        normalize=False,
    )
    assert loss.item() == pytest.approx(sum(terms), rel=1e-12)
