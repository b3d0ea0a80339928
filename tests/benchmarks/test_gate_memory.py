"""What the gate holds in memory, counted in bytes."""

from types import ModuleType

import pytest
import torch

from exitwise.gradients import GatedBackward, GradientGate

WIDTH, DEPTH, MICRO_BATCHES = 300, 12, 3


@pytest.mark.field_case(40)
def test_the_gate_holds_one_copy_of_the_gradients_beside_theirs(harness: ModuleType) -> None:
    copy = DEPTH * WIDTH * WIDTH * 4
    peaks = {}
    for gate in (None, GradientGate()):
        layers = [torch.nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(DEPTH)]
        model = torch.nn.Sequential(*layers)
        backward = GatedBackward({"all": model.parameters()}, weight=0.1, gate=gate)

        def update(model: torch.nn.Module = model, backward: GatedBackward[str] = backward) -> None:
            for batch in torch.randn(MICRO_BATCHES, 2, WIDTH):
                outputs = model(batch)
                backward(outputs.sum(), outputs.square().mean())

        peaks[gate] = harness.peak_bytes(update)
    plain, gated = peaks.values()
    assert plain > copy  # p.grad itself
    assert 0.9 * copy < gated - plain < 1.35 * copy  # the contrastive gradient, and a block of it
