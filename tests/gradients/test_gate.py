"""The gate as data: its decision and its checks."""

import math
from typing import Any

import pytest
import torch

from exitwise.gradients import GradientGate


def is_open(gate: GradientGate, angle: float, *, is_finite: bool = True) -> bool:
    decision = gate.is_open(torch.tensor(angle, dtype=torch.float64), torch.tensor(is_finite))
    assert decision.shape == ()
    return bool(decision)


@pytest.mark.parametrize("angle", [0.0, 89.9, 90.0, math.degrees(math.acos(0.0))])
def test_angles_up_to_the_threshold_are_kept(angle: float) -> None:
    assert is_open(GradientGate(), angle)


@pytest.mark.parametrize("angle", [90.0001, 135.0, 180.0])
def test_angles_above_the_threshold_are_dropped(angle: float) -> None:
    assert not is_open(GradientGate(), angle)


def test_an_undefined_angle_is_kept_unless_told_otherwise() -> None:
    assert is_open(GradientGate(), math.nan)
    assert not is_open(GradientGate(on_undefined="drop"), math.nan)


@pytest.mark.parametrize("max_angle", [90.0, 180.0])
def test_a_gradient_that_is_not_finite_is_dropped_at_any_threshold(max_angle: float) -> None:
    assert not is_open(GradientGate(max_angle=max_angle), math.nan, is_finite=False)


def test_from_180_degrees_on_no_angle_is_needed() -> None:
    assert GradientGate(max_angle=179.9).needs_angle
    gate = GradientGate(max_angle=180.0, on_undefined="drop")
    assert not gate.needs_angle
    assert is_open(gate, math.nan)


@pytest.mark.parametrize("angle", [-1.0, math.nan])
def test_a_threshold_that_is_no_angle_is_refused(angle: float) -> None:
    with pytest.raises(ValueError, match="max_angle must be at least 0 degrees, found"):
        GradientGate(max_angle=angle)


@pytest.mark.parametrize(
    "name", ["on_undefined", "ce_weight_when_closed", "parameters", "every", "compare_with"]
)
def test_a_choice_that_is_none_is_refused(name: str) -> None:
    settings: dict[str, Any] = {name: "sometimes"}
    # In use a ValueError; while the tests run, the type checker may be first.
    with pytest.raises((ValueError, TypeError), match=name):
        GradientGate(**settings)
