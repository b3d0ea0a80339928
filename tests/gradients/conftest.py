"""Two losses on two small layers whose gradients are known to agree or to conflict."""

from typing import NamedTuple

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from exitwise.losses import aligned_contrastive_loss


class Model(NamedTuple):
    """An encoder, an exit and a parameter that no loss reaches."""

    encoder: nn.Parameter
    matrix: nn.Parameter
    unused: nn.Parameter

    def copy(self) -> "Model":
        """The same values with no gradient."""
        return Model(*(nn.Parameter(parameter.detach().clone()) for parameter in self))

    def losses(self, inputs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Cross-entropy and the aligned contrastive loss."""
        embeddings = (inputs @ self.encoder).tanh()
        primary = cross_entropy(embeddings @ self.matrix, labels)
        return primary, aligned_contrastive_loss(embeddings, self.matrix.T, labels)

    def grads(self) -> list[Tensor | None]:
        """What the backward passes left."""
        return [parameter.grad for parameter in self]


@pytest.fixture
def model() -> Model:
    """In float64, so that two ways of computing may be compared closely."""
    shapes = ((6, 5), (5, 3), (2,))
    return Model(*(nn.Parameter(torch.randn(shape, dtype=torch.float64)) for shape in shapes))


@pytest.fixture
def batch() -> tuple[Tensor, Tensor]:
    """Eight samples of three classes."""
    return torch.randn(8, 6, dtype=torch.float64), torch.arange(8) % 3
