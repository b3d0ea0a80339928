"""The angle between two gradients: reference values, precision, zeros for what is not reached."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from exitwise.gradients import GradientGate, gradient_angle

CASES = json.loads((Path(__file__).parents[1] / "data" / "reference_values.json").read_text())[
    "gradient_angle_vectors"
]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_angle_and_decision_equal_the_reference(case: dict[str, Any], dtype: torch.dtype) -> None:
    first, second = (torch.tensor(case[name], dtype=dtype) for name in ("g_contrastive", "g_ce"))
    angle = gradient_angle([first], [second])
    expected = math.nan if case["angle_deg"] is None else case["angle_deg"]
    tolerance = {torch.float64: 1e-7, torch.float32: 1e-4}[dtype]
    assert angle.item() == pytest.approx(expected, rel=tolerance, abs=1e-9, nan_ok=True)
    for threshold in (90, 45, 180):
        gate = GradientGate(max_angle=float(threshold))
        is_open = gate.is_open(angle, torch.tensor(True))
        assert is_open.item() == case[f"kept_at_{threshold}"], threshold


def test_exactly_orthogonal_gradients_have_exactly_90_degrees() -> None:
    assert gradient_angle([torch.tensor([1.0, 1.0])], [torch.tensor([2.0, -2.0])]).item() == 90


@given(seed=st.integers(0, 10_000))
def test_rounding_never_makes_the_angle_of_parallel_gradients_undefined(seed: int) -> None:
    vector = torch.randn(7, generator=torch.Generator().manual_seed(seed))
    assert gradient_angle([vector], [3 * vector]).item() < 1e-4
    assert gradient_angle([vector], [-3 * vector]).item() > 180 - 1e-4


def test_angle_is_that_of_all_parameters_joined() -> None:
    first, second = ([torch.randn(shape) for shape in ((3, 4), (5,), ())] for _ in range(2))
    joined = [
        torch.cat([tensor.reshape(-1) for tensor in group]).double() for group in (first, second)
    ]
    cosine = (joined[0] @ joined[1] / (joined[0].norm() * joined[1].norm())).item()
    assert gradient_angle(first, second).item() == pytest.approx(math.degrees(math.acos(cosine)))


def test_none_stands_for_zeros() -> None:
    first = [torch.randn(4), torch.randn(3), None, None]
    second = [torch.randn(4), None, torch.randn(2), None]
    sizes = (4, 3, 2, 5)
    filled = [
        [
            torch.zeros(n) if tensor is None else tensor
            for tensor, n in zip(group, sizes, strict=True)
        ]
        for group in (first, second)
    ]
    assert gradient_angle(first, second).item() == gradient_angle(*filled).item()


@pytest.mark.parametrize("nothing", [[], [None], [torch.zeros(3)]])
def test_without_a_gradient_there_is_no_angle(nothing: list[Any]) -> None:
    assert gradient_angle(nothing, nothing).isnan()


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_gradient_that_is_not_finite_has_no_angle(value: float) -> None:
    assert gradient_angle([torch.tensor([1.0, value])], [torch.ones(2)]).isnan()


@given(first=st.floats(1e-30, 1e30), second=st.floats(1e-30, 1e30))
def test_lengths_play_no_part(first: float, second: float) -> None:
    one, two = torch.tensor([1.0, 2.0, -1.0]), torch.tensor([0.5, -1.0, 2.0])
    expected = gradient_angle([one], [two]).item()
    assert gradient_angle([one * first], [two * second]).item() == pytest.approx(expected, rel=1e-5)


def test_large_tensors_are_summed_exactly_over_the_blocks() -> None:
    size = 3 * 65536 + 17  # several blocks and a rest
    first, second = torch.randn(size), torch.randn(size)
    one, two = first.double(), second.double()
    expected = (one @ two / (one.norm() * two.norm())).acos().rad2deg()
    torch.testing.assert_close(gradient_angle([first], [second]), expected, rtol=1e-12, atol=0.0)


def test_memory_layout_plays_no_part() -> None:
    first, second = torch.randn(6, 7), torch.randn(6, 7)
    other = second.T.contiguous().T
    assert gradient_angle([first], [other]).item() == gradient_angle([first], [second]).item()


def test_half_precision_gradients_are_measured_in_float64() -> None:
    first, second = (torch.randn(1000).to(torch.bfloat16) for _ in range(2))
    angle = gradient_angle([first], [second])
    assert angle.dtype == torch.float64
    assert angle.item() == gradient_angle([first.double()], [second.double()]).item()


def test_gradients_of_different_numbers_of_parameters_are_refused() -> None:
    with pytest.raises(ValueError, match="one entry a parameter, found 1 and 0"):
        gradient_angle([torch.ones(1)], [])
