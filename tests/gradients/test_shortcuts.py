"""Cheaper gates: what they look at, what they leave in `p.grad`, how many passes they take."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from exitwise.gradients import GatedBackward, GradientGate, gradient_angle

Batch = tuple[Tensor, Tensor]
Losses = tuple[Tensor, Tensor, Tensor]

REPRESENTATION = GradientGate(shortcut="representation")
LAST = GradientGate(shortcut="last_layers")


def losses_of(model: Any, batch: Batch) -> Losses:
    """Both losses, and the embedding that they were computed on."""
    inputs, labels = batch
    embeddings = (inputs @ model.encoder).tanh()
    primary = torch.nn.functional.cross_entropy(embeddings @ model.matrix, labels)
    return primary, (embeddings[0] * model.encoder[0]).sum() - 0.7 * primary, embeddings


def backward(model: Any, gate: GradientGate | None, **settings: Any) -> GatedBackward[str]:
    return GatedBackward({"all": model}, weight=0.25, gate=gate, **settings)


def gradients(loss: Tensor, where: Any) -> list[Tensor | None]:
    return list(torch.autograd.grad(loss, where, retain_graph=True, allow_unused=True))


@pytest.mark.parametrize("max_angle", [0.0, 90.0, 179.9])
@pytest.mark.parametrize("shortcut", ["representation", "last_layers"])
def test_the_decision_is_that_of_the_tensors_it_looks_at(
    model: Any, batch: Batch, shortcut: Any, max_angle: float
) -> None:
    gate = GradientGate(shortcut=shortcut, max_angle=max_angle)
    primary, auxiliary, embeddings = losses_of(model, batch)
    where = [embeddings] if shortcut == "representation" else [model.matrix]
    angle = float(gradient_angle(gradients(primary, where), gradients(auxiliary, where)))
    compared = None if shortcut == "representation" else [model.matrix]
    reports = backward(model, gate, compared=compared)(
        primary, auxiliary, scale=0.5, representations=[embeddings]
    )
    report = reports["all"]
    assert report.angle == pytest.approx(angle, rel=1e-12)
    assert report.is_open == (angle <= max_angle)
    twin = model.copy()
    primary, auxiliary, _ = losses_of(twin, batch)
    expected = 0.75 * primary + 0.25 * auxiliary if report.is_open else primary
    (0.5 * expected).backward()
    for found, wanted in zip(model.grads(), twin.grads(), strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-15)


def test_a_shortcut_takes_one_pass_through_the_encoder(model: Any, batch: Batch) -> None:
    passes: list[int] = []
    model.encoder.register_hook(lambda _: passes.append(1))
    primary, auxiliary, embeddings = losses_of(model, batch)
    backward(model, REPRESENTATION)(primary, auxiliary, representations=[embeddings])
    assert len(passes) == 1


def test_soft_targets_are_in_the_update_and_in_the_angle_if_told(model: Any, batch: Batch) -> None:
    for compare_with in ("ce", "ce_and_soft_targets"):
        gate = GradientGate(shortcut="representation", compare_with=compare_with, max_angle=179.9)
        twin = model.copy()
        primary, auxiliary, embeddings = losses_of(twin, batch)
        extra = (embeddings**2).sum()
        reference = primary if compare_with == "ce" else primary + extra
        angle = float(
            gradient_angle(gradients(reference, [embeddings]), gradients(auxiliary, [embeddings]))
        )
        reports = backward(twin, gate)(primary, auxiliary, extra, representations=[embeddings])
        assert reports["all"].angle == pytest.approx(angle, rel=1e-12)
        other = model.copy()
        primary, auxiliary, embeddings = losses_of(other, batch)
        (0.75 * primary + 0.25 * auxiliary + (embeddings**2).sum()).backward()
        torch.testing.assert_close(twin.encoder.grad, other.encoder.grad)


@pytest.mark.parametrize("shortcut", ["none", "representation"])
def test_between_two_decisions_the_last_one_stands(model: Any, batch: Batch, shortcut: Any) -> None:
    passes: list[int] = []
    model.encoder.register_hook(lambda _: passes.append(1))
    step = backward(model, GradientGate(shortcut=shortcut, interval=3, max_angle=90.0))
    decided: list[int] = []
    for index in range(7):
        primary, _, embeddings = losses_of(model, batch)
        # Agrees at passes 0, 1, 2 and 6; conflicts at 3, 4, 5; 1, 2, 4, 5 would say otherwise.
        sign = 1.0 if index in (0, 4, 5, 6) else -1.0
        model.encoder.grad = None
        reports = step(primary, sign * primary, representations=[embeddings])
        if reports:
            decided.append(index)
            assert reports["all"].is_open == (sign > 0)
        is_open = index in (0, 1, 2, 6)
        share = 0.75 + 0.25 * sign if is_open else 1.0
        (expected,) = gradients(losses_of(model, batch)[0], [model.encoder])
        assert expected is not None
        torch.testing.assert_close(model.encoder.grad, share * expected)
    assert decided == [0, 3, 6]
    passes_of_expectation = 7
    two_passes = 3 if shortcut == "none" else 0
    assert len(passes) == 7 + two_passes + passes_of_expectation


def test_a_broken_contrastive_gradient_is_dropped_with_a_warning(model: Any, batch: Batch) -> None:
    primary, auxiliary, embeddings = losses_of(model, batch)
    with pytest.warns(RuntimeWarning, match="not finite"):
        reports = backward(model, REPRESENTATION)(
            primary, math.nan * auxiliary, representations=[embeddings]
        )
    assert not reports["all"].is_open
    assert model.encoder.grad.isfinite().all()


def test_tensors_that_no_loss_reaches_leave_the_gate_open(model: Any, batch: Batch) -> None:
    primary, auxiliary, _ = losses_of(model, batch)
    elsewhere = torch.ones(3, dtype=torch.float64, requires_grad=True)
    step = backward(model, REPRESENTATION)
    assert step(primary, auxiliary, representations=[elsewhere]) == {}
    twin = model.copy()
    primary, auxiliary, _ = losses_of(twin, batch)
    (0.75 * primary + 0.25 * auxiliary).backward()
    torch.testing.assert_close(model.encoder.grad, twin.encoder.grad)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"interval": 0}, "interval must be at least 1, found 0"),
        ({"last_layers": 0}, "last_layers must be at least 1, found 0"),
        ({"interval": 2, "every": "update"}, "by forward pass, not by update"),
        ({"shortcut": "representation", "every": "update"}, "by forward pass, not by update"),
        ({"shortcut": "last_layers", "parameters": "exit"}, "says itself what is compared"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(
    settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        GradientGate(**settings)


def test_several_decisions_and_unknown_layers_are_refused() -> None:
    first, second = (nn.Parameter(torch.ones(2)) for _ in range(2))
    with pytest.raises(ValueError, match="one decision for all"):
        GatedBackward({1: [first], 2: [second]}, weight=0.5, gate=REPRESENTATION)
    with pytest.raises(ValueError, match="compares the last_layers: pass its parameters"):
        GatedBackward({1: [first]}, weight=0.5, gate=LAST)
