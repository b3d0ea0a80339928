"""The angle between two gradients."""

from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Float64
from torch import Tensor

BLOCK = 1 << 16  # elements converted to float64 at a time: 1 MiB for a pair, inside the cache

Gradients = Sequence[Tensor | None]


def gradient_angle(first: Gradients, second: Gradients) -> Float64[Tensor, ""]:
    r"""The angle between two gradients, each one tensor a parameter, in degrees.

    $$\gamma = \arccos \frac{g_1 \cdot g_2}{\lVert g_1 \rVert \, \lVert g_2 \rVert}$$

    (section 4.2 of the paper, "ACL-Grad"). `None` stands for zeros: the loss does not reach
    that parameter. NaN if one of the gradients is zero or not finite. The result stays on the
    device of the gradients; nothing waits for it.

    Two unrelated directions in D dimensions have 90° ± 57.3°/√D.

    >>> x, y = torch.tensor([1.0, 0.0]), torch.tensor([1.0, 1.0])
    >>> gradient_angle([x, y], [x, None])  # x·x = 1, lengths √3 and 1
    tensor(54.7356, dtype=torch.float64)
    """
    return angle_of(inner_products(first, second))


def inner_products(first: Gradients, second: Gradients) -> Float64[Tensor, "2 2"]:
    """All dot products of the two gradients: the squared lengths are on the diagonal.

    In float64, since gradients of 1e-25 are legal and their squares vanish in float32; block by
    block, so that no large float64 copy is made.
    """
    present = next((tensor for tensor in (*first, *second) if tensor is not None), None)
    device = None if present is None else present.device
    gram = torch.zeros(2, 2, dtype=torch.float64, device=device)
    for pair in zip(first, second, strict=True):
        for block in _blocks(pair):
            gram += block @ block.T
    return gram


def angle_of(gram: Float64[Tensor, "2 2"]) -> Float64[Tensor, ""]:
    """The angle in degrees, of the dot products.

    Rounding may bring the cosine above 1, hence the clamp. Exactly orthogonal gradients give
    exactly 90.
    """
    cosine = gram[0, 1] / (gram[0, 0].sqrt() * gram[1, 1].sqrt())
    return cosine.clamp(-1, 1).acos().rad2deg()


def _blocks(pair: tuple[Tensor | None, Tensor | None]) -> Iterator[Tensor]:
    """The two tensors in float64, side by side: [2, at most BLOCK]."""
    present = next((tensor for tensor in pair if tensor is not None), None)
    if present is None:
        return
    rows = [None if tensor is None else tensor.detach().reshape(-1) for tensor in pair]
    for start in range(0, present.numel(), BLOCK):
        end = min(start + BLOCK, present.numel())
        block = present.new_zeros(2, end - start, dtype=torch.float64)
        for index, row in enumerate(rows):
            if row is not None:
                block[index] = row[start:end]
        yield block
