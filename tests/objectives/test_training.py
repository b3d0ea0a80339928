"""Objective, gate and optimiser together on separable synthetic data."""

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from exitwise.gradients import GatedBackward
from exitwise.objectives import Objective
from exitwise.outputs import ExitOutput


class Classifier(nn.Module):
    """Two linear maps with a tanh between, as the smallest exit."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(10, 8)
        self.classifier = nn.Linear(8, 3, bias=False)

    def forward(self, inputs: Tensor) -> ExitOutput:
        embedding = self.hidden(inputs).tanh()
        return ExitOutput(self.classifier(embedding), embedding, self.classifier.weight)


def data(seed: int, num_samples: int) -> tuple[Tensor, Tensor]:
    centers = 1.2 * torch.randn(3, 10, generator=torch.Generator().manual_seed(99))
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(3, (num_samples,), generator=generator)
    return centers[labels] + torch.randn(num_samples, 10, generator=generator), labels


def trained(objective: Objective, seed: int) -> Classifier:
    torch.manual_seed(seed)
    model = Classifier()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    backward = GatedBackward(
        {"all": model.parameters()},
        weight=objective.weight,
        gate=objective.gate,
        ce_weight=objective.ce_weight,
    )
    inputs, labels = data(seed, 96)
    for _ in range(4):
        for part, own in zip(inputs.split(16), labels.split(16), strict=True):
            terms = objective(model(part), own)
            optimizer.zero_grad()
            backward(terms.primary, terms.auxiliary, terms.soft_targets)
            optimizer.step()
    return model


def accuracy(model: Classifier) -> float:
    inputs, labels = data(1000, 400)
    with torch.no_grad():
        return (model(inputs).logits.argmax(dim=-1) == labels).float().mean().item()


@pytest.mark.field_case(34)
def test_acl_is_no_worse_than_cross_entropy_on_separable_data() -> None:
    seeds = range(5)
    ce = [accuracy(trained(Objective.cross_entropy(), seed)) for seed in seeds]
    acl = [accuracy(trained(Objective.acl(), seed)) for seed in seeds]
    assert min(ce) > 0.6  # far above chance, 1/3
    assert math.fsum(acl) / 5 >= math.fsum(ce) / 5 - 0.01


@pytest.mark.field_case(34)
def test_weight_zero_trains_the_same_bits_as_cross_entropy() -> None:
    weightless = trained(replace(Objective.acl(), weight=0.0), seed=3)
    plain = trained(Objective.cross_entropy(), seed=3)
    acl = trained(Objective.acl(), seed=3)
    for name, parameter in plain.named_parameters():
        assert torch.equal(weightless.get_parameter(name), parameter), name
        assert not torch.equal(acl.get_parameter(name), parameter), name
