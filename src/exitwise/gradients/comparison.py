"""The two gradients of each parameter, compared while that of cross-entropy is at hand."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Float64
from torch import Tensor

from exitwise.gradients.angle import inner_products
from exitwise.gradients.gate import GradientGate
from exitwise.gradients.held import HeldGradients, total


class Compared(NamedTuple):
    """What a parameter contributes to the decision."""

    products: Float64[Tensor, "3"]
    is_part_of_angle: bool


class Comparison:
    r"""Makes the updates of an open and of a closed gate, before the decision is known.

    With $w_c$ and $w_o$ the weights of cross-entropy under a closed and an open gate, `p.grad`
    receives $w_c g_{ce}$ and `towards_open` becomes
    $g_{con} + \frac{w_o - w_c}{\lambda} g_{ce}$ in the memory of the contrastive gradient:
    $\lambda$ times that leads from the update of a closed gate to that of an open one. So
    nothing but the contrastive gradient is held beside `p.grad`, however many micro-batches an
    update has.

    Args:
        gate: tells what is compared with what.
        parameters: all that are trained.
        is_compared: which of them are part of the angle.
        ce_weight_closed: $w_c$.
        ce_difference: $(w_o - w_c) / \lambda$, which is -1 or 0.
    """

    def __init__(
        self,
        gate: GradientGate,
        parameters: Sequence[Tensor],
        *,
        is_compared: Sequence[bool],
        ce_weight_closed: float,
        ce_difference: float,
    ) -> None:
        self.towards_open = HeldGradients(parameters)  # the contrastive gradient until compared
        self.soft_targets = HeldGradients(parameters)  # only if the gate compares with them, too
        self.primary = HeldGradients(parameters)  # only if the gate decides once an update
        self.auxiliary_loss = torch.zeros(())
        self.compared: dict[int, Compared] = {}
        self._gate = gate
        self._parameters = parameters
        self._is_compared = is_compared
        self._ce_weight_closed = ce_weight_closed
        self._ce_difference = ce_difference

    @contextmanager
    def during_backward(self) -> Iterator[None]:
        """Compares each gradient that a backward pass brings, just before `p.grad` takes it."""
        with ExitStack() as hooks:
            for index, parameter in enumerate(self._parameters):
                handle = parameter.register_hook(partial(self._compare, index))
                hooks.callback(handle.remove)
            yield

    def rest(self) -> Iterator[tuple[int, Tensor | None]]:
        """Compares what no backward pass has brought so far; what `p.grad` has yet to receive."""
        for index in range(len(self._parameters)):
            if index not in self.compared:
                yield index, self._compare(index, self.primary.pop(index))

    def _compare(self, index: int, primary: Tensor | None) -> Tensor | None:
        """Compares the gradients of one parameter; what belongs in its `p.grad`."""
        auxiliary, soft_targets = self.towards_open[index], self.soft_targets.pop(index)
        reference = total(primary, soft_targets)
        if reference is None and auxiliary is None:
            return None
        is_part = self._gate.needs_angle and self._is_compared[index]
        if self._gate.parameters == "shared":
            is_part = is_part and reference is not None and auxiliary is not None
        products = inner_products([reference if is_part else None], [auxiliary])
        self.compared[index] = Compared(products, is_part)
        if primary is None:
            return soft_targets
        if self._ce_difference:
            self.towards_open[index] = (
                self._ce_difference * primary
                if auxiliary is None
                else auxiliary.add_(primary, alpha=self._ce_difference)
            )
        if self._ce_weight_closed != 1:
            primary = primary * self._ce_weight_closed
        return total(primary, soft_targets)
