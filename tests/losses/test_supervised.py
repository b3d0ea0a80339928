"""SCL: reference values, the formula in loops, degenerate batches and invariances."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from exitwise.losses import supervised_contrastive_loss
from exitwise.losses.contrastive import anchor_terms, unit_rows

CASES = json.loads((Path(__file__).parents[1] / "data" / "reference_values.json").read_text())[
    "scl"
]
DENOMINATORS = ["paper", "khosla"]
REDUCTIONS = ["sum", "mean", "mean_valid"]

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
each_denominator = pytest.mark.parametrize("denominator", DENOMINATORS)


def batch(num_samples: int = 8, width: int = 5, num_classes: int = 3) -> tuple[Tensor, Tensor]:
    embeddings = torch.randn(num_samples, width, dtype=torch.float64, requires_grad=True)
    return embeddings, torch.arange(num_samples) % num_classes


def gradient(loss: Tensor, *leaves: Tensor) -> list[Tensor]:
    return list(torch.autograd.grad(loss, leaves))


@each_denominator
@pytest.mark.parametrize("reduction", REDUCTIONS)
@each_case
def test_values_equal_the_reference(case: dict[str, Any], denominator: Any, reduction: Any) -> None:
    expected = case["denominator"][denominator][reduction]
    for dtype, rtol, atol in ((torch.float64, 1e-7, 1e-9), (torch.float32, 1e-4, 1e-5)):
        loss = supervised_contrastive_loss(
            torch.tensor(case["z"], dtype=dtype),
            torch.tensor(case["labels"]),
            temperature=case["tau"],
            denominator=denominator,
            reduction=reduction,
            normalize=case["normalize"],
        )
        torch.testing.assert_close(loss, torch.tensor(expected, dtype=dtype), rtol=rtol, atol=atol)


@each_denominator
@each_case
def test_terms_of_the_anchors_and_their_positives_equal_the_reference(
    case: dict[str, Any], denominator: Any
) -> None:
    embeddings = torch.tensor(case["z"], dtype=torch.float64)
    terms, num_positives = anchor_terms(
        unit_rows(embeddings) if case["normalize"] else embeddings,
        torch.tensor(case["labels"]),
        temperature=case["tau"],
        denominator=denominator,
    )
    expected = torch.tensor(case["denominator"][denominator]["per_anchor"], dtype=torch.float64)
    torch.testing.assert_close(terms, expected, rtol=1e-7, atol=1e-9)
    assert num_positives.tolist() == case["n_positives_per_anchor"]


@each_denominator
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize(
    "case", [case for case in CASES if case["name"] != "zero_vector"], ids=lambda case: case["name"]
)
def test_gradients_equal_the_reference(
    assert_equals_reference: Callable[..., None],
    case: dict[str, Any],
    dtype: torch.dtype,
    denominator: Any,
) -> None:
    embeddings = torch.tensor(case["z"], dtype=dtype, requires_grad=True)
    loss = supervised_contrastive_loss(
        embeddings,
        torch.tensor(case["labels"]),
        temperature=case["tau"],
        denominator=denominator,
        normalize=case["normalize"],
    )
    expected = case["denominator"][denominator]["grad_of_sum_wrt_z"]
    is_relative = case["name"] == "large_norms"
    assert_equals_reference(gradient(loss, embeddings)[0], expected, is_relative=is_relative)


@each_denominator
@pytest.mark.parametrize("normalize", [True, False])
@given(
    labels=st.lists(st.integers(0, 3), min_size=1, max_size=7),
    temperature=st.floats(0.05, 5.0),
    seed=st.integers(0, 1000),
)
def test_any_batch_equals_the_formula_in_loops(
    loop_terms: Callable[..., list[float]],
    denominator: Any,
    normalize: bool,
    labels: list[int],
    temperature: float,
    seed: int,
) -> None:
    generator = torch.Generator().manual_seed(seed)
    embeddings = torch.randn(len(labels), 3, dtype=torch.float64, generator=generator)
    settings = {"temperature": temperature, "denominator": denominator, "normalize": normalize}
    loss = supervised_contrastive_loss(embeddings, torch.tensor(labels), **settings)
    expected = sum(loop_terms(embeddings.tolist(), labels, **settings))
    assert loss.item() == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.field_case(22)
@each_denominator
def test_a_label_that_occurs_once_adds_nothing_but_stays_a_negative(denominator: Any) -> None:
    embeddings, _ = batch(5)
    labels = torch.tensor([0, 0, 1, 1, 2])
    loss = supervised_contrastive_loss(embeddings, labels, denominator=denominator)
    with_lonely, _ = anchor_terms(
        unit_rows(embeddings), labels, temperature=0.5, denominator=denominator
    )
    assert with_lonely[4] == 0
    assert loss.isfinite()
    (of_all,) = gradient(loss, embeddings)
    assert of_all.isfinite().all()
    assert of_all[4].abs().sum() > 0  # pushed away by the others
    mean = supervised_contrastive_loss(
        embeddings, labels, denominator=denominator, reduction="mean_valid"
    )
    (of_mean,) = gradient(mean, embeddings)
    torch.testing.assert_close(of_mean * 4, of_all)  # the divisor: 4 anchors have a positive


@pytest.mark.field_case(23)
@pytest.mark.field_case(26)
@each_denominator
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("num_samples", [1, 2, 5])
def test_without_a_positive_the_loss_is_zero_and_backward_gives_zeros(
    num_samples: int, reduction: Any, denominator: Any
) -> None:
    embeddings, labels = batch(num_samples, num_classes=num_samples)
    loss = supervised_contrastive_loss(
        embeddings, labels, denominator=denominator, reduction=reduction
    )
    assert loss.item() == 0
    loss.backward()
    assert embeddings.grad is not None
    assert torch.equal(embeddings.grad, torch.zeros_like(embeddings))


@pytest.mark.field_case(29)
@pytest.mark.parametrize("temperature", [0.05, 0.5, 2.0])
def test_equal_vectors_give_the_log_of_the_number_of_candidates(temperature: float) -> None:
    embeddings, labels = torch.ones(6, 4), torch.zeros(6, dtype=torch.long)
    for denominator, expected in (("paper", math.log(6)), ("khosla", math.log(5))):
        loss = supervised_contrastive_loss(
            embeddings, labels, temperature=temperature, denominator=denominator, reduction="mean"
        )
        assert loss.item() == pytest.approx(expected, rel=1e-5)


def test_least_value_is_reached_by_two_opposite_points() -> None:
    embeddings = torch.tensor([[1.0, 0.0]] * 3 + [[-1.0, 0.0]] * 4, dtype=torch.float64)
    labels = torch.tensor([0] * 3 + [1] * 4)
    far = math.exp(-2 / 0.5)
    for denominator, own in (("paper", 0), ("khosla", 1)):
        loss = supervised_contrastive_loss(embeddings, labels, denominator=denominator)
        least = 3 * math.log(3 - own + 4 * far) + 4 * math.log(4 - own + 3 * far)
        assert loss.item() == pytest.approx(least, rel=1e-12)


def test_the_two_denominators_differ_by_the_anchors_share() -> None:
    embeddings, labels = batch()
    unit = unit_rows(embeddings)
    paper, _ = anchor_terms(unit, labels, temperature=0.5, denominator="paper")
    khosla, _ = anchor_terms(unit, labels, temperature=0.5, denominator="khosla")
    share = (unit @ unit.T / 0.5).softmax(dim=-1).diagonal()
    torch.testing.assert_close(paper - khosla, -(1 - share).log())


@each_denominator
def test_sum_is_the_number_of_anchors_times_the_mean(denominator: Any) -> None:
    embeddings, labels = batch(9)
    total = supervised_contrastive_loss(embeddings, labels, denominator=denominator)
    mean = supervised_contrastive_loss(
        embeddings, labels, denominator=denominator, reduction="mean"
    )
    assert total.item() == pytest.approx(9 * mean.item(), rel=1e-14)


@each_denominator
def test_order_of_the_samples_plays_no_part(denominator: Any) -> None:
    embeddings, labels = batch()
    order = torch.randperm(len(labels))
    loss = supervised_contrastive_loss(embeddings, labels, denominator=denominator)
    other = supervised_contrastive_loss(embeddings[order], labels[order], denominator=denominator)
    torch.testing.assert_close(loss, other)


@each_denominator
def test_a_common_rotation_plays_no_part(denominator: Any) -> None:
    embeddings, labels = batch()
    rotation, _ = torch.linalg.qr(torch.randn(5, 5, dtype=torch.float64))
    loss = supervised_contrastive_loss(embeddings, labels, denominator=denominator)
    other = supervised_contrastive_loss(embeddings @ rotation, labels, denominator=denominator)
    torch.testing.assert_close(loss, other)


@each_denominator
def test_a_longer_row_keeps_the_loss_and_has_a_gradient_shorter_by_that_factor(
    denominator: Any,
) -> None:
    embeddings, labels = batch()
    factors = torch.rand(8, 1, dtype=torch.float64) * 10 + 0.1
    longer = (embeddings * factors).detach().requires_grad_()
    loss = supervised_contrastive_loss(embeddings, labels, denominator=denominator)
    other = supervised_contrastive_loss(longer, labels, denominator=denominator)
    torch.testing.assert_close(loss, other)
    torch.testing.assert_close(gradient(other, longer)[0] * factors, gradient(loss, embeddings)[0])


@each_denominator
def test_gradient_is_orthogonal_to_its_row(denominator: Any) -> None:
    embeddings, labels = batch()
    loss = supervised_contrastive_loss(embeddings, labels, denominator=denominator)
    along = (gradient(loss, embeddings)[0] * embeddings).sum(dim=-1)
    torch.testing.assert_close(along, torch.zeros_like(along))


@each_denominator
def test_a_zero_row_gets_exactly_no_gradient_and_leaves_the_others_alone(
    denominator: Any,
) -> None:
    embeddings, labels = batch(6)
    with torch.no_grad():
        embeddings[2] = 0.0
    loss = supervised_contrastive_loss(embeddings, labels, denominator=denominator)
    (of_zero,) = gradient(loss, embeddings)
    assert loss.isfinite()
    assert torch.equal(of_zero[2], torch.zeros(5, dtype=torch.float64))
    # The others' gradients, with the zero row as a constant that no normalisation touches.
    others = [0, 1, 3, 4, 5]
    rows = embeddings.detach()[others].requires_grad_()
    unit = torch.nn.functional.normalize(rows, dim=-1)
    items = torch.cat([unit[:2], torch.zeros(1, 5, dtype=torch.float64), unit[2:]])
    expected = supervised_contrastive_loss(items, labels, denominator=denominator, normalize=False)
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(of_zero[others], gradient(expected, rows)[0])


@pytest.mark.parametrize("length", [1e-13, 1e-30, 1e-40])
def test_a_row_too_short_for_a_direction_counts_as_zero(length: float) -> None:
    embeddings = torch.eye(3)
    embeddings[0] *= length
    embeddings.requires_grad_()
    loss = supervised_contrastive_loss(embeddings, torch.tensor([0, 0, 1]))
    (of_embeddings,) = gradient(loss, embeddings)
    assert torch.equal(of_embeddings[0], torch.zeros(3))
    assert of_embeddings.isfinite().all()


def test_a_temperature_that_is_not_positive_is_refused_with_its_value() -> None:
    embeddings, labels = batch()
    with pytest.raises(ValueError, match=r"temperature must be positive, found -0\.5"):
        supervised_contrastive_loss(embeddings, labels, temperature=-0.5)
