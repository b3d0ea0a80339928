"""Fast dropout drops what dropout drops."""

import pytest
import torch
from torch import nn

from exitwise.training.dropout import FastDropout, use_fast_dropout


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("probability", [0.1, 0.5, 0.9])
def test_share_and_scale_are_those_of_dropout(probability: float, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    ones = torch.ones(997, 203, dtype=dtype, requires_grad=True)  # no multiple of four
    found = FastDropout(probability)(ones)
    assert found.dtype == dtype
    kept = found[found != 0]
    expected = torch.full_like(kept, 1 / (1 - probability))
    torch.testing.assert_close(
        kept, expected, rtol=1e-2 if dtype == torch.bfloat16 else 1e-3, atol=0
    )
    # Five standard deviations of a share of 202,391 independent draws.
    assert abs((found == 0).float().mean().item() - probability) < 5 * 0.5 / 202_391**0.5
    found.sum().backward()
    assert torch.equal(ones.grad, found.detach())


def test_neighbours_are_dropped_independently() -> None:
    torch.manual_seed(0)
    is_dropped = FastDropout(0.5)(torch.ones(400_000)).eq(0).float()
    for lag in (1, 2, 3, 4, 8):
        both = (is_dropped[lag:] * is_dropped[:-lag]).mean().item()
        assert abs(both - 0.25) < 0.005


def test_masks_follow_the_seed_and_differ_from_call_to_call() -> None:
    dropout, ones = FastDropout(0.3), torch.ones(64, 3)
    torch.manual_seed(1)
    first, second = dropout(ones), dropout(ones)
    torch.manual_seed(1)
    assert torch.equal(dropout(ones), first)
    assert not torch.equal(first, second)


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_never_and_always_are_exact(probability: float) -> None:
    found = FastDropout(probability)(torch.ones(50))
    assert torch.equal(found, torch.zeros(50) if probability == 1 else torch.ones(50))


def test_evaluation_drops_nothing() -> None:
    ones = torch.ones(50)
    assert torch.equal(FastDropout(0.5).eval()(ones), ones)


def test_every_dropout_of_a_model_is_replaced_and_its_state_stays() -> None:
    shared = nn.Dropout(0.2).eval()
    model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Dropout(0.1), shared), nn.Dropout1d())
    names = list(model.state_dict())
    use_fast_dropout(model)
    found = model[1]
    assert [type(module) for module in found] == [FastDropout, FastDropout]
    assert [module.p for module in found] == [0.1, 0.2]
    assert [module.training for module in found] == [True, False]
    assert type(model[2]) is nn.Dropout1d
    assert list(model.state_dict()) == names
