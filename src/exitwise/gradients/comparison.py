"""The two gradients of each parameter, compared while that of cross-entropy is at hand."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import compress
from typing import NamedTuple

import torch
from jaxtyping import Float64
from torch import Tensor

from exitwise.gradients.angle import inner_products
from exitwise.gradients.gate import GradientGate
from exitwise.gradients.held import HeldGradients, total

SMALL = 1 << 16
"""Elements. Smaller gradients wait for each other and are compared as one vector: their copies
weigh little, while a call for each of them costs more than its arithmetic."""


class Compared(NamedTuple):
    """What some parameters contribute to the decision."""

    products: Float64[Tensor, "3"]
    is_part_of_angle: bool


class Pair(NamedTuple):
    """The gradients of one parameter that the gate compares; `None` for zeros."""

    reference: Tensor | None
    auxiliary: Tensor | None


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
        self._gate = gate
        self._parameters = parameters
        self._is_compared = is_compared
        self._ce_weight_closed = ce_weight_closed
        self._ce_difference = ce_difference
        self._large: dict[int, Compared] = {}
        self._small: dict[int, Pair] = {}

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
            if index not in self._large and index not in self._small:
                yield index, self._compare(index, self.primary.pop(index))

    def compared(self, members: range) -> list[Compared]:
        """What the parameters of a group contribute, once all of them have been compared."""
        found = [self._large[index] for index in members if index in self._large]
        small = [index for index in members if index in self._small]
        for is_part in (True, False):
            pairs = [self._small[index] for index in small if self._is_part(index) == is_part]
            if pairs:
                found.append(Compared(joined_products(pairs, is_part=is_part), is_part))
        return found

    def _compare(self, index: int, primary: Tensor | None) -> Tensor | None:
        """Compares the gradients of one parameter; what belongs in its `p.grad`."""
        auxiliary, soft_targets = self.towards_open[index], self.soft_targets.pop(index)
        pair = Pair(total(primary, soft_targets), auxiliary)
        if pair.reference is None and pair.auxiliary is None:
            return None
        is_small = self._parameters[index].numel() < SMALL
        if is_small:
            self._small[index] = pair
        else:
            is_part = self._is_part(index, pair)
            self._large[index] = Compared(joined_products([pair], is_part=is_part), is_part)
        if primary is None:
            return soft_targets
        if self._ce_difference:
            # A small contrastive gradient stays as it is until all of them are compared.
            self.towards_open[index] = (
                self._ce_difference * primary
                if auxiliary is None
                else auxiliary.add(primary, alpha=self._ce_difference)
                if is_small
                else auxiliary.add_(primary, alpha=self._ce_difference)
            )
        if self._ce_weight_closed != 1:
            primary = primary * self._ce_weight_closed
        return total(primary, soft_targets)

    def _is_part(self, index: int, pair: Pair | None = None) -> bool:
        """Whether a parameter is part of the angle."""
        if not (self._gate.needs_angle and self._is_compared[index]):
            return False
        reference, auxiliary = pair or self._small[index]
        is_shared = reference is not None and auxiliary is not None
        return self._gate.parameters != "shared" or is_shared


def joined_products(pairs: Sequence[Pair], *, is_part: bool) -> Float64[Tensor, "3"]:
    """The inner products of several parameters' gradients, laid end to end.

    Of gradients that are no part of the angle, the contrastive ones alone count: whether they
    are finite is asked of all.
    """
    reference = [pair.reference if is_part else None for pair in pairs]
    auxiliary = [pair.auxiliary for pair in pairs]
    if len(pairs) == 1:
        return inner_products(reference, auxiliary)
    has_both = [
        one is not None and two is not None for one, two in zip(reference, auxiliary, strict=True)
    ]
    vectors = [_end_to_end(list(compress(each, has_both))) for each in (reference, auxiliary)]
    first, second = (
        _end_to_end([one for one, both in zip(each, has_both, strict=True) if not both])
        for each in (reference, auxiliary)
    )
    return inner_products([vectors[0], first, None], [vectors[1], None, second])


def _end_to_end(gradients: Sequence[Tensor | None]) -> Tensor | None:
    present = [gradient.reshape(-1) for gradient in gradients if gradient is not None]
    return torch.cat(present) if present else None
