"""One backward pass of each summed loss serves the gate of every group."""

from typing import Any

import jaxtyping
import pytest
import torch
from torch import Tensor, nn

from exitwise.gradients import GatedBackward, GradientGate, gated_backward
from exitwise.gradients.decision import Decisions

Exits = dict[int, list[nn.Parameter]]


@pytest.fixture
def exits() -> Exits:
    """Two parameters a layer, on layers 1 … 3."""
    shapes = ((4, 3), (3, 2))
    return {
        layer: [nn.Parameter(torch.randn(shape, dtype=torch.float64)) for shape in shapes]
        for layer in (1, 2, 3)
    }


def losses(exits: Exits, hidden: Tensor) -> dict[int, tuple[Tensor, Tensor]]:
    """Layer 2's auxiliary loss pulls against its primary one, the others' with it."""
    values = {}
    for layer, (first, second) in exits.items():
        primary = ((hidden @ first).tanh() @ second).square().mean()
        sign = -1.0 if layer == 2 else 1.0
        values[layer] = primary, sign * primary + 0.1 * layer * first.square().sum() / 100
    return values


def copies(exits: Exits) -> Exits:
    return {
        layer: [nn.Parameter(parameter.detach().clone()) for parameter in members]
        for layer, members in exits.items()
    }


@pytest.fixture(autouse=True, params=["read at once", "left on the device"])
def decisions_are(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """On an accelerator, whose part the processor plays here, nobody waits for a decision."""
    if request.param != "read at once":
        monkeypatch.setattr(Decisions, "is_at_hand", False)


def test_groups_decide_and_move_as_if_each_were_alone(exits: Exits) -> None:
    hidden = torch.randn(5, 4, dtype=torch.float64)
    alone = copies(exits)
    values = losses(exits, hidden)
    primary = torch.stack([value for value, _ in values.values()]).sum()
    auxiliary = torch.stack([value for _, value in values.values()]).sum()
    reports = GatedBackward(exits, weight=0.3, gate=GradientGate())(primary, auxiliary)
    assert [report.is_open for report in reports.values()] == [True, False, True]
    assert list(reports) == [1, 2, 3]
    for layer, (own_primary, own_auxiliary) in losses(alone, hidden).items():
        report = gated_backward(
            own_primary, own_auxiliary, alone[layer], weight=0.3, gate=GradientGate()
        )
        assert report == reports[layer]
        for one, other in zip(exits[layer], alone[layer], strict=True):
            torch.testing.assert_close(one.grad, other.grad, rtol=1e-12, atol=0.0)


@pytest.mark.field_case(42)
def test_number_of_passes_does_not_depend_on_the_number_of_groups(exits: Exits) -> None:
    hidden = torch.randn(5, 4, dtype=torch.float64)
    passes = []
    for layer, (first, _) in exits.items():
        first.register_hook(lambda _, layer=layer: passes.append(layer))
    values = losses(exits, hidden)
    primary = torch.stack([value for value, _ in values.values()]).sum()
    auxiliary = torch.stack([value for _, value in values.values()]).sum()
    GatedBackward(exits, weight=0.3, gate=GradientGate())(primary, auxiliary)
    assert sorted(passes) == [1, 1, 2, 2, 3, 3]


@pytest.mark.field_case(47)
def test_a_group_not_in_use_has_no_decision_and_no_gradient(exits: Exits) -> None:
    hidden = torch.randn(5, 4, dtype=torch.float64)
    primary, auxiliary = losses(exits, hidden)[3]
    reports = GatedBackward(exits, weight=0.3, gate=GradientGate())(primary, auxiliary)
    assert list(reports) == [3]
    for layer, members in exits.items():
        assert all((parameter.grad is None) == (layer != 3) for parameter in members)


def test_a_broken_group_does_not_touch_the_others(exits: Exits) -> None:
    hidden = torch.randn(5, 4, dtype=torch.float64)
    values = losses(exits, hidden)
    primary = torch.stack([value for value, _ in values.values()]).sum()
    broken: list[Any] = [values[1][1], values[2][1], values[3][1] * float("nan")]
    with pytest.warns(RuntimeWarning, match=r"not finite \(3\)"):
        reports = GatedBackward(exits, weight=0.3, gate=GradientGate(max_angle=180.0))(
            primary, torch.stack(broken).sum()
        )
    assert [report.is_open for report in reports.values()] == [True, True, False]
    for members in exits.values():
        assert all(p.grad is not None and p.grad.isfinite().all() for p in members)


def test_on_an_accelerator_no_pass_waits_for_a_decision(
    exits: Exits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Decisions, "is_at_hand", False)
    hidden = torch.randn(5, 4, dtype=torch.float64)
    values = losses(exits, hidden)
    primary = torch.stack([value for value, _ in values.values()]).sum()
    auxiliary = torch.stack([value for _, value in values.values()]).sum()
    backward = GatedBackward(exits, weight=0.3, gate=GradientGate())
    with monkeypatch.context() as patched:
        # The checks of types would read a decision to see its type.
        patched.setattr(jaxtyping.config, "jaxtyping_disable", True)
        for name in ("tolist", "item", "__bool__", "__float__", "numpy", "cpu"):
            patched.setattr(Tensor, name, refuse)
        decisions = backward(primary, auxiliary)
    assert [report.is_open for report in decisions.values()] == [True, False, True]


def refuse(tensor: Tensor, *_: Any) -> None:
    raise AssertionError("the host waits for the device")
