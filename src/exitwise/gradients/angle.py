"""The angle between two gradients."""

from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Float64
from torch import Tensor

Gradients = Sequence[Tensor | None]


def gradient_angle(first: Gradients, second: Gradients) -> Float64[Tensor, ""]:
    r"""The angle between two gradients, each one tensor a parameter, in degrees.

    $$\gamma = \arccos \frac{g_1 \cdot g_2}{\lVert g_1 \rVert \, \lVert g_2 \rVert}$$

    (the paper's ACL-Grad). `None` stands for zeros: the loss does not reach that parameter. NaN
    if one of the gradients is zero or not finite. The result stays on the device of the
    gradients; nothing waits for it.

    Two unrelated directions in D dimensions have 90° ± 57.3°/√D.

    >>> x, y = torch.tensor([1.0, 0.0]), torch.tensor([1.0, 1.0])
    >>> gradient_angle([x, y], [x, None])  # x·x = 1, lengths √3 and 1
    tensor(54.7356, dtype=torch.float64)
    """
    return angle_of(inner_products(first, second))


def inner_products(first: Gradients, second: Gradients) -> Float64[Tensor, "3"]:
    r"""$g_1 \cdot g_2$, $\lVert g_1 \rVert^2$ and $\lVert g_2 \rVert^2$.

    In float64, since gradients of 1e-25 are legal and their squares vanish in float32; block by
    block, so that no large tensor is copied whole.
    """
    if len(first) != len(second):
        raise ValueError(
            f"gradients must have one entry a parameter, found {len(first)} and {len(second)}"
        )
    present = next((tensor for tensor in (*first, *second) if tensor is not None), None)
    device = None if present is None else present.device
    products = torch.zeros(3, dtype=torch.float64, device=device)
    for pair in zip(first, second, strict=True):
        for one, two in _blocks(*pair):
            products += torch.stack([one @ two, one @ one, two @ two])
    return products


def angle_of(products: Float64[Tensor, "3"]) -> Float64[Tensor, ""]:
    """The angle in degrees, of the three inner products.

    Rounding may bring the cosine above 1, hence the clamp. Exactly orthogonal gradients give
    exactly 90.
    """
    dot, first, second = products.unbind()
    return dot.div(first.sqrt() * second.sqrt()).clamp(-1, 1).acos().rad2deg()


def _blocks(first: Tensor | None, second: Tensor | None) -> Iterator[tuple[Tensor, Tensor]]:
    """The two gradients of a parameter in float64, piece by piece."""
    present = second if first is None else first
    if present is None:
        return
    # 64 Ki elements stay inside a processor's cache; an accelerator wants fewer, larger kernels.
    size = 1 << (16 if present.device.type == "cpu" else 22)
    zeros = present.new_zeros(()).expand_as(present)
    rows = [zeros if gradient is None else gradient.detach() for gradient in (first, second)]
    for one, two in zip(*(torch.split(row.reshape(-1), size) for row in rows), strict=True):
        yield one.double(), two.double()
