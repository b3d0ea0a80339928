"""Several micro-batches, one update."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from exitwise.gradients import GatedBackward, GradientGate, gated_backward

Batch = tuple[Tensor, Tensor]


def micro_batches(batch: Batch, number: int) -> list[Batch]:
    return list(zip(*(tensor.chunk(number) for tensor in batch), strict=True))


def angle(gradients: list[Tensor], others: list[Tensor]) -> float:
    one, two = (torch.cat([g.reshape(-1) for g in group]) for group in (gradients, others))
    return math.degrees(math.acos((one @ two / (one.norm() * two.norm())).item()))


@pytest.mark.field_case(45)
@pytest.mark.parametrize("number", [2, 4, 8])
@pytest.mark.parametrize("gate", [None, GradientGate(max_angle=0.0)], ids=["plain", "closed"])
def test_equal_micro_batches_of_cross_entropy_equal_one_batch(
    model: Any, batch: Batch, gate: Any, number: int
) -> None:
    whole = model.copy()
    whole.losses(*batch)[0].backward()
    for part in micro_batches(batch, number):
        primary, auxiliary = model.losses(*part)
        gated_backward(
            primary,
            auxiliary if gate else None,
            model,
            weight=0.02,
            gate=gate,
            scale=1 / number,
        )
    for found, expected in zip(model.grads(), whole.grads(), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-12)


@pytest.mark.field_case(45)
def test_soft_targets_are_divided_by_the_number_of_micro_batches(model: Any, batch: Batch) -> None:
    def targets(some: Any, inputs: Tensor) -> Tensor:
        return ((inputs @ some.encoder).tanh() @ some.matrix).square().mean()

    whole = model.copy()
    (whole.losses(*batch)[0] + targets(whole, batch[0])).backward()
    for inputs, labels in micro_batches(batch, 4):
        primary, auxiliary = model.losses(inputs, labels)
        gated_backward(
            primary,
            auxiliary,
            model,
            weight=0.02,
            gate=GradientGate(max_angle=0.0),
            extra=targets(model, inputs),
            scale=1 / 4,
        )
    for found, expected in zip(model.grads(), whole.grads(), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-12)


def test_by_forward_each_micro_batch_has_its_own_decision(model: Any, batch: Batch) -> None:
    backward = GatedBackward({"all": model}, weight=0.02, gate=GradientGate())
    angles = []
    for index, part in enumerate(micro_batches(batch, 4)):
        primary, auxiliary = model.losses(*part)
        reports = backward(primary, auxiliary, scale=1 / 4, is_last=index == 3)
        angles.append(reports["all"].angle)
    assert len(set(angles)) == 4


@pytest.mark.parametrize("max_angle", [179.9, 0.0], ids=["open", "closed"])
def test_by_update_there_is_one_decision_on_the_accumulated_gradients(
    model: Any, batch: Batch, max_angle: float
) -> None:
    twin = model.copy()
    gate = GradientGate(max_angle=max_angle, every="update")
    backward = GatedBackward({"all": model}, weight=0.1, gate=gate)
    parts = micro_batches(batch, 4)
    for index, part in enumerate(parts):
        primary, auxiliary = model.losses(*part)
        reports = backward(primary, auxiliary, scale=1 / 4, is_last=index == 3)
        assert len(reports) == (index == 3)
        assert (model.encoder.grad is None) == (index < 3)
    values = [twin.losses(*part) for part in parts]
    parameters = [twin.encoder, twin.matrix]
    of_ce, of_contrast = (
        torch.autograd.grad(sum(column) / 4, parameters, retain_graph=True)
        for column in zip(*values, strict=True)
    )
    assert reports["all"].angle == pytest.approx(angle(of_ce, of_contrast), rel=1e-9)
    weights = (0.9, 0.1) if max_angle else (1.0, 0.0)
    for parameter, one, two in zip((model.encoder, model.matrix), of_ce, of_contrast, strict=True):
        expected = weights[0] * one + weights[1] * two
        torch.testing.assert_close(parameter.grad, expected, rtol=1e-9, atol=1e-15)
    assert model.unused.grad is None


@pytest.mark.parametrize("max_angle", [179.9, 0.0], ids=["open", "closed"])
def test_by_update_nothing_is_left_for_the_next_one(
    model: Any, batch: Batch, max_angle: float
) -> None:
    gate = GradientGate(max_angle=max_angle, every="update")
    fresh = model.copy()
    used, new = (GatedBackward({"all": one}, weight=0.1, gate=gate) for one in (model, fresh))
    earlier, later = micro_batches(batch, 2)
    used(*model.losses(*earlier))
    for parameter in model:
        parameter.grad = None
    assert used(*model.losses(*later)) == new(*fresh.losses(*later))
    assert torch.equal(model.encoder.grad, fresh.encoder.grad)


def test_by_update_a_loss_that_broke_earlier_is_no_overflow(model: Any, batch: Batch) -> None:
    gate = GradientGate(every="update")
    backward = GatedBackward({"all": model}, weight=0.1, gate=gate)
    primary, auxiliary = model.losses(*batch)
    backward(primary, auxiliary * math.nan, scale=1024.0, is_last=False)
    with pytest.warns(RuntimeWarning, match="not finite"):
        reports = backward(*model.losses(*batch), scale=1024.0)
    assert not reports["all"].is_open


def test_by_update_a_closed_gate_leaves_the_bits_of_plain_cross_entropy(
    model: Any, batch: Batch
) -> None:
    plain = model.copy()
    gate = GradientGate(max_angle=0.0, every="update")
    backward = GatedBackward({"all": model}, weight=0.1, gate=gate)
    parts = micro_batches(batch, 4)
    for index, part in enumerate(parts):
        backward(*model.losses(*part), scale=1 / 4, is_last=index == 3)
        gated_backward(plain.losses(*part)[0], None, plain, weight=0.1, gate=None, scale=1 / 4)
    assert torch.equal(model.encoder.grad, plain.encoder.grad)
    assert torch.equal(model.matrix.grad, plain.matrix.grad)


def test_by_update_soft_targets_may_be_compared_as_well(model: Any, batch: Batch) -> None:
    gate = GradientGate(max_angle=179.9, every="update", compare_with="ce_and_soft_targets")
    backward = GatedBackward({"all": model}, weight=0.1, gate=gate)
    twin = model.copy()
    other = GatedBackward(
        {"all": twin}, weight=0.1, gate=GradientGate(max_angle=179.9, every="update")
    )
    for index, part in enumerate(micro_batches(batch, 2)):
        primary, auxiliary = model.losses(*part)
        soft = cross_entropy(model.matrix.T, torch.tensor([0, 1, 2]))
        reports = backward(primary, auxiliary, soft, is_last=index == 1)
        primary, auxiliary = twin.losses(*part)
        soft = cross_entropy(twin.matrix.T, torch.tensor([0, 1, 2]))
        expected = other(primary + soft, auxiliary, is_last=index == 1)
    assert reports["all"].angle == pytest.approx(expected["all"].angle, rel=1e-12)
