"""What the backward passes leave in `p.grad`, and how many there are."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from exitwise.gradients import GatedBackward, GradientGate, gated_backward

Batch = tuple[Tensor, Tensor]

ALWAYS = GradientGate(max_angle=179.9)
NEVER = GradientGate(max_angle=0.0)


def assert_equal_grads(first: Any, second: Any) -> None:
    for one, two in zip(first.grads(), second.grads(), strict=True):
        assert (one is None) == (two is None)
        assert one is None or torch.equal(one, two)


def assert_close_grads(first: Any, second: Any) -> None:
    for one, two in zip(first.grads(), second.grads(), strict=True):
        torch.testing.assert_close(one, two, rtol=1e-9, atol=1e-15)


def step(model: Any, batch: Batch, **settings: Any) -> Any:
    primary, auxiliary = model.losses(*batch)
    return gated_backward(primary, auxiliary, model, **{"weight": 0.02} | settings)


def plain_step(model: Any, batch: Batch) -> None:
    gated_backward(model.losses(*batch)[0], None, model, weight=0.02, gate=None)


@pytest.mark.parametrize("ce_weight", ["complement", "one"])
@pytest.mark.parametrize("weight", [0.02, 0.5, 1.0])
def test_two_backward_passes_equal_one_of_the_combined_loss(
    model: Any, batch: Batch, weight: float, ce_weight: Any
) -> None:
    report = step(model, batch, weight=weight, gate=ALWAYS, ce_weight=ce_weight)
    assert report.is_open
    twin, ungated = model.copy(), model.copy()
    primary, auxiliary = twin.losses(*batch)
    share = 1.0 if ce_weight == "one" else 1 - weight
    (share * primary + weight * auxiliary).backward()
    assert_close_grads(model, twin)
    assert step(ungated, batch, weight=weight, gate=None, ce_weight=ce_weight) is None
    assert_close_grads(ungated, twin)


@pytest.mark.parametrize("scale", [1.0, 1 / 3, 1 / 7])
def test_closed_gate_and_weight_zero_leave_the_bits_of_plain_cross_entropy(
    model: Any, batch: Batch, scale: float
) -> None:
    closed, weightless, ungated, twin = (model.copy() for _ in range(4))
    for _ in range(3):  # accumulates
        gated_backward(model.losses(*batch)[0], None, model, weight=0.02, gate=NEVER, scale=scale)
        report = step(closed, batch, gate=NEVER, scale=scale)
        assert not report.is_open
        assert step(weightless, batch, weight=0.0, gate=NEVER, scale=scale) is None
        assert step(ungated, batch, weight=0.0, gate=None, scale=scale) is None
        (twin.losses(*batch)[0] * scale).backward()
    for other in (closed, weightless, ungated, twin):
        assert_equal_grads(model, other)


def test_fixed_weight_of_cross_entropy_stays_when_the_gate_closes(model: Any, batch: Batch) -> None:
    twin = model.copy()
    step(model, batch, weight=0.25, gate=GradientGate(max_angle=0.0, ce_weight_when_closed="fixed"))
    (0.75 * twin.losses(*batch)[0]).backward()
    assert_close_grads(model, twin)


@pytest.mark.parametrize("gate", [None, ALWAYS, NEVER])
def test_a_parameter_that_no_loss_reaches_keeps_no_gradient(
    model: Any, batch: Batch, gate: Any
) -> None:
    step(model, batch, gate=gate)
    assert model.unused.grad is None
    assert model.encoder.grad is not None


@pytest.mark.parametrize("gate", [None, ALWAYS])
@pytest.mark.parametrize("weight", [0.0, 0.02])
def test_parameters_that_were_not_given_are_left_alone(
    model: Any, batch: Batch, gate: Any, weight: float
) -> None:
    gated_backward(*model.losses(*batch), [model.matrix], weight=weight, gate=gate)
    assert model.matrix.grad is not None
    assert model.encoder.grad is None


def test_a_parameter_without_requires_grad_is_left_out(model: Any, batch: Batch) -> None:
    model.encoder.requires_grad_(False)
    step(model, batch, gate=ALWAYS)
    assert model.encoder.grad is None
    assert model.matrix.grad is not None


def test_soft_targets_are_in_the_update_and_not_in_the_angle(model: Any, batch: Batch) -> None:
    with_extra, twin = model.copy(), model.copy()
    report = step(model, batch, gate=ALWAYS)
    primary, auxiliary = with_extra.losses(*batch)
    extra = (with_extra.encoder**2).sum()
    found = gated_backward(
        primary, auxiliary, with_extra, weight=0.02, gate=ALWAYS, extra=extra, scale=0.5
    )
    assert found is not None
    assert found.angle == pytest.approx(report.angle, rel=1e-12)
    primary, auxiliary = twin.losses(*batch)
    (0.5 * (0.98 * primary + 0.02 * auxiliary + (twin.encoder**2).sum())).backward()
    assert_close_grads(with_extra, twin)


@pytest.mark.parametrize("gate", [None, ALWAYS])
@pytest.mark.parametrize("has_auxiliary", [True, False])
def test_soft_targets_are_added_on_every_path(
    model: Any, batch: Batch, gate: Any, has_auxiliary: bool
) -> None:
    twin = model.copy()
    primary, auxiliary = model.losses(*batch)
    extra = (model.encoder**2).sum()
    gated_backward(
        primary,
        auxiliary if has_auxiliary else None,
        model,
        weight=0.02,
        gate=gate,
        extra=extra,
    )
    primary, auxiliary = twin.losses(*batch)
    combined = 0.98 * primary + 0.02 * auxiliary if has_auxiliary else primary
    (combined + (twin.encoder**2).sum()).backward()
    assert_close_grads(model, twin)


def test_the_gate_may_compare_with_cross_entropy_and_soft_targets(model: Any, batch: Batch) -> None:
    twin, expected = model.copy(), model.copy()
    gate = GradientGate(max_angle=179.9, compare_with="ce_and_soft_targets")
    primary, auxiliary = model.losses(*batch)
    extra = (model.encoder**2).sum()
    report = gated_backward(primary, auxiliary, model, weight=0.02, gate=gate, extra=extra)
    # The same angle as if both were the primary loss; the update weighs them apart.
    primary, auxiliary = twin.losses(*batch)
    joined = primary + (twin.encoder**2).sum()
    other = gated_backward(joined, auxiliary, twin, weight=0.02, gate=ALWAYS)
    assert report is not None
    assert other is not None
    assert report.angle == pytest.approx(other.angle, rel=1e-12)
    primary, auxiliary = expected.losses(*batch)
    (0.98 * primary + 0.02 * auxiliary + (expected.encoder**2).sum()).backward()
    assert_close_grads(model, expected)


@pytest.mark.parametrize("scale", [1.0, 0.125, 1024.0])
def test_weight_reduction_and_loss_scale_do_not_change_the_angle(
    model: Any, batch: Batch, scale: float
) -> None:
    expected = step(model.copy(), batch, gate=GradientGate())
    for weight, factor in ((0.02, 1.0), (0.9, 1.0), (0.02, 1 / 11)):
        primary, auxiliary = model.losses(*batch)
        report = gated_backward(
            primary, factor * auxiliary, model, weight=weight, gate=GradientGate(), scale=scale
        )
        assert report is not None
        assert report.angle == pytest.approx(expected.angle, rel=1e-12)
        assert report.is_open == expected.is_open


def test_a_zero_gradient_is_undefined_and_kept_unless_told_otherwise(
    model: Any, batch: Batch
) -> None:
    for on_undefined, is_open in (("keep", True), ("drop", False)):
        twin = model.copy()
        primary, auxiliary = twin.losses(*batch)
        gate = GradientGate(on_undefined=on_undefined)
        report = gated_backward(primary, 0 * auxiliary, twin, weight=0.5, gate=gate)
        assert report is not None
        assert report.is_undefined
        assert math.isnan(report.angle)
        assert report.is_open == is_open
        expected = model.copy()
        ((0.5 if is_open else 1.0) * expected.losses(*batch)[0]).backward()
        assert_close_grads(twin, expected)


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("max_angle", [90.0, 180.0])
def test_a_contrastive_gradient_that_is_not_finite_is_dropped_with_a_warning(
    model: Any, batch: Batch, value: float, max_angle: float
) -> None:
    twin = model.copy()
    primary, auxiliary = model.losses(*batch)
    with pytest.warns(RuntimeWarning, match="not finite"):
        report = gated_backward(
            primary, value * auxiliary, model, weight=0.02, gate=GradientGate(max_angle=max_angle)
        )
    assert report is not None
    assert not report.is_open
    assert not report.is_finite
    plain_step(twin, batch)
    assert_equal_grads(model, twin)


def test_one_value_outside_the_compared_parameters_that_is_not_finite_is_seen(
    model: Any, batch: Batch
) -> None:
    primary, auxiliary = model.losses(*batch)
    broken = auxiliary + (model.matrix[0, 0] * math.inf)
    with pytest.warns(RuntimeWarning, match="not finite"):
        report = gated_backward(
            primary,
            broken,
            model,
            weight=0.02,
            gate=GradientGate(parameters="encoder"),
            compared=[model.encoder],
        )
    assert report is not None
    assert not report.is_finite


def test_a_finite_loss_with_a_gradient_that_is_not_finite_is_dropped(model: Any) -> None:
    root = (model.unused - model.unused.detach()).abs().sqrt().sum()  # 0, infinitely steep
    with pytest.warns(RuntimeWarning, match="not finite"):
        report = gated_backward(
            model.unused.sum(), root, model, weight=0.5, gate=GradientGate(), scale=0.25
        )
    assert report is not None
    assert not report.is_open
    assert torch.equal(model.unused.grad, torch.full((2,), 0.25, dtype=torch.float64))


@pytest.mark.field_case(35)
def test_an_overflow_under_a_loss_scale_lowers_the_scale_and_loses_no_contrast() -> None:
    weight = nn.Parameter(torch.zeros(2))
    optimizer = torch.optim.SGD([weight], lr=1e-36)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**16)
    scaler.scale(torch.ones(()))  # the scaler makes its state at the first use
    reports = []
    for _ in range(10):
        optimizer.zero_grad()
        report = gated_backward(
            weight.sum(),
            1e36 * weight.sum(),  # overflows float32 at scales from 512 on
            [weight],
            weight=0.5,
            gate=GradientGate(),
            scale=scaler.get_scale(),
        )
        scaler.step(optimizer)
        scaler.update()
        reports.append(report)
    finite = [report.is_finite for report in reports if report is not None]
    assert finite == [False] * 8 + [True] * 2
    assert all(report.is_open for report in reports if report is not None)
    assert scaler.get_scale() == 2.0**8
    torch.testing.assert_close(weight.detach(), torch.full((2,), -1.0))  # two updates of 0.5


def test_a_broken_loss_under_a_loss_scale_is_dropped_all_the_same(model: Any, batch: Batch) -> None:
    primary, auxiliary = model.losses(*batch)
    with pytest.warns(RuntimeWarning, match="not finite"):
        report = gated_backward(
            primary, auxiliary * math.nan, model, weight=0.02, gate=GradientGate(), scale=1024.0
        )
    assert report is not None
    assert not report.is_open
    assert model.encoder.grad.isfinite().all()


@pytest.mark.parametrize(
    ("settings", "passes"),
    [
        ({"gate": GradientGate()}, 2),
        ({"gate": GradientGate(max_angle=180.0)}, 2),
        ({"gate": GradientGate(), "weight": 0.0}, 1),
        ({"gate": None}, 1),
    ],
)
def test_number_of_backward_passes(
    model: Any, batch: Batch, settings: dict[str, Any], passes: int
) -> None:
    count = []
    model.encoder.register_hook(lambda _: count.append(1))
    step(model, batch, **settings)
    assert len(count) == passes


def test_angle_is_not_computed_from_180_degrees_on(model: Any, batch: Batch) -> None:
    report = step(model, batch, gate=GradientGate(max_angle=180.0, on_undefined="drop"))
    assert math.isnan(report.angle)
    assert report.is_open
    assert not report.is_undefined


def test_one_gradient_given_to_two_parameters_does_not_tie_their_updates() -> None:
    first, second = (nn.Parameter(torch.ones(2)) for _ in range(2))
    for gate in (None, GradientGate()):
        first.grad = second.grad = None
        total = (first + second).sum()  # autograd hands out one expanded tensor
        gated_backward(total, total * 1.0, [first, second], weight=0.5, gate=gate)
        assert first.grad is not None
        assert second.grad is not None
        first.grad.mul_(3.0)
        assert torch.equal(second.grad, torch.ones(2))


def test_a_parameter_given_twice_is_refused() -> None:
    weight = nn.Parameter(torch.ones(2))
    with pytest.raises(ValueError, match="found one twice"):
        GatedBackward({1: [weight], 2: [weight]}, weight=0.5, gate=None)


@pytest.mark.parametrize("parameters", ["encoder", "exit"])
def test_a_gate_on_a_part_of_the_model_needs_its_parameters(parameters: Any) -> None:
    weight = nn.Parameter(torch.ones(2))
    with pytest.raises(ValueError, match=f"compares the {parameters}: pass its parameters"):
        GatedBackward({1: [weight]}, weight=0.5, gate=GradientGate(parameters=parameters))


def test_no_compared_parameters_leave_the_angle_undefined(model: Any, batch: Batch) -> None:
    report = step(model, batch, gate=GradientGate(parameters="encoder"), compared=[])
    assert report.is_undefined
    assert report.is_open
