"""Gradients beside `p.grad`: what waits for the gate's decision."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from torch import Tensor


class HeldGradients:
    """One gradient a parameter, `None` where no loss came by.

    Autograd itself adds to them while `receives` is entered, so that it decides, as for `p.grad`,
    whether it may hand over a tensor or has to copy it.
    """

    def __init__(self, parameters: Sequence[Tensor]) -> None:
        self._parameters = parameters
        self._gradients: list[Tensor | None] = [None] * len(parameters)

    @contextmanager
    def receives(self) -> Iterator[None]:
        """Within it, a backward pass adds to these gradients and leaves `p.grad` alone."""
        outside = [parameter.grad for parameter in self._parameters]
        self._put(self._gradients)
        try:
            yield
        finally:
            self._gradients = [parameter.grad for parameter in self._parameters]
            self._put(outside)

    def __getitem__(self, index: int) -> Tensor | None:
        """The gradient of one parameter."""
        return self._gradients[index]

    def __setitem__(self, index: int, gradient: Tensor | None) -> None:
        self._gradients[index] = gradient

    def pop(self, index: int) -> Tensor | None:
        """Gives the gradient of one parameter away, so that no two hold its memory."""
        gradient, self._gradients[index] = self._gradients[index], None
        return gradient

    def _put(self, gradients: Sequence[Tensor | None]) -> None:
        for parameter, gradient in zip(self._parameters, gradients, strict=True):
            parameter.grad = gradient


def accumulate(parameter: Tensor, gradient: Tensor | None, weight: float = 1.0) -> None:
    """Adds to `p.grad`, which stays `None` where there is nothing to add; uses the gradient up."""
    if gradient is None:
        return
    if parameter.grad is None:
        parameter.grad = gradient if weight == 1 else gradient.mul_(weight)
    else:
        parameter.grad.add_(gradient, alpha=weight)


def total(first: Tensor | None, second: Tensor | None) -> Tensor | None:
    """The sum; `None` stands for zeros."""
    return second if first is None else first if second is None else first + second
