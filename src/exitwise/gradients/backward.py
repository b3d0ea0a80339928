"""The backward passes of one update: two gradients, one decision, no third pass to combine."""

import warnings
from collections.abc import Hashable, Iterable, Mapping
from typing import Generic, Literal, NamedTuple, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor

from exitwise.gradients.angle import angle_of, inner_products
from exitwise.gradients.gate import GradientGate

CEWeight = Literal["complement", "one"]
Key = TypeVar("Key", bound=Hashable)


class GateReport(NamedTuple):
    """One decision of the gate.

    Attributes:
        angle: degrees between the two gradients; NaN if undefined or not needed.
        is_open: whether the contrastive gradient is part of the update.
        is_undefined: whether an angle was asked for and there is none.
        is_finite: whether all of the contrastive gradient is finite.
    """

    angle: float
    is_open: bool
    is_undefined: bool
    is_finite: bool


class _Held(NamedTuple):
    """Gradients that wait for a decision, one entry a parameter; `None` is zero."""

    primary: list[Tensor | None]
    auxiliary: list[Tensor | None]
    outside: list[Tensor | None]  # of soft targets, if the gate compares with them, too
    auxiliary_loss: Tensor


class GatedBackward(Generic[Key]):
    r"""Adds $(1-\lambda') g_{ce} + \lambda' g_{con} + g_{extra}$ to `p.grad`, batch by batch.

    The gate decides for each group of parameters by itself. With a frozen encoder the losses of
    the exits are independent, so that one backward of their summed cross-entropy and one of
    their summed contrastive losses serve the gates of all of them.

    Without an auxiliary loss or with weight 0 there is one backward pass. So there is without a
    gate, of the combined loss. With a gate there are two (and one of `extra`, which is part of
    the update but not of the angle). A parameter that no loss reaches keeps `grad = None`.

    Memory: beside `p.grad`, the two gradients at most.

    Args:
        groups: the parameters of each gate decision.
        weight: $\lambda$.
        gate: `None` keeps every batch.
        ce_weight: "complement" is $(1-\lambda) L_{ce} + \lambda L_{con}$ (the paper), "one" is
            $L_{ce} + \lambda L_{con}$.
        compared: the parameters on which the gradients are compared, all if `None`. Needed if
            the gate compares those of the encoder or of the exit, which only the caller knows.
    """

    def __init__(
        self,
        groups: Mapping[Key, Iterable[Tensor]],
        *,
        weight: float,
        gate: GradientGate | None,
        ce_weight: CEWeight = "complement",
        compared: Iterable[Tensor] | None = None,
    ) -> None:
        self.weight = weight
        self.gate = gate
        self.ce_weight = ce_weight
        self._parameters: list[Tensor] = []
        self._groups: dict[Key, range] = {}
        for key, members in groups.items():
            start = len(self._parameters)
            self._parameters += [member for member in members if member.requires_grad]
            self._groups[key] = range(start, len(self._parameters))
        if len({id(parameter) for parameter in self._parameters}) < len(self._parameters):
            raise ValueError("each parameter must be in one group once, found one twice")
        if gate is not None and gate.parameters in ("encoder", "exit") and compared is None:
            raise ValueError(f"the gate compares the {gate.parameters}: pass its parameters")
        chosen = self._parameters if compared is None else compared
        self._compared = {id(parameter) for parameter in chosen}
        self._held: _Held | None = None

    def __call__(
        self,
        primary: Float[Tensor, ""],
        auxiliary: Float[Tensor, ""] | None = None,
        extra: Float[Tensor, ""] | None = None,
        *,
        scale: float = 1.0,
        is_last: bool = True,
    ) -> dict[Key, GateReport]:
        """Runs the backward passes of one micro-batch; the decisions, by group.

        Nothing is decided, and the result is empty, if there is no gate, no auxiliary loss or
        weight 0, and before the last micro-batch of an update if the gate decides by update.

        Args:
            primary: cross-entropy, summed over the groups.
            auxiliary: the contrastive loss without its weight, summed over the groups.
            extra: what is added with weight 1 and outside the gate: soft targets.
            scale: multiplies all: 1 / accumulation, times the loss scale of a `GradScaler`.
            is_last: whether the optimiser's update follows.
        """
        if auxiliary is None or self.weight == 0:
            self._add(self._gradients(_sum(primary, extra), scale))
            return {}
        if self.gate is None:
            mixed = self._weight_of_ce(is_open=True) * primary + self.weight * auxiliary
            self._add(self._gradients(_sum(mixed, extra), scale))
            return {}
        self._hold(primary, auxiliary, extra, scale)
        if self.gate.every == "update" and not is_last:
            return {}
        return self._decide(self.gate, scale)

    def _gradients(
        self, loss: Tensor, scale: float, *, keep_graph: bool = False
    ) -> list[Tensor | None]:
        """One backward pass. The scale goes in at the top, before anything can underflow."""
        gradients = torch.autograd.grad(
            loss,
            self._parameters,
            grad_outputs=torch.full_like(loss, scale),
            retain_graph=keep_graph,
            allow_unused=True,
        )
        return list(gradients)

    def _hold(self, primary: Tensor, auxiliary: Tensor, extra: Tensor | None, scale: float) -> None:
        """Computes the gradients of a micro-batch and adds them to those that wait."""
        outside: list[Tensor | None] = [None] * len(self._parameters)
        if extra is not None:
            gradients = self._gradients(extra, scale, keep_graph=True)
            self._add(gradients)
            if self.gate is not None and self.gate.compare_with == "ce_and_soft_targets":
                outside = gradients
        held = _Held(
            auxiliary=self._gradients(auxiliary, scale, keep_graph=True),
            primary=self._gradients(primary, scale),
            outside=outside,
            auxiliary_loss=auxiliary.detach(),
        )
        if self._held is not None:
            held = _Held(
                primary=_sums(self._held.primary, held.primary),
                auxiliary=_sums(self._held.auxiliary, held.auxiliary),
                outside=_sums(self._held.outside, held.outside),
                auxiliary_loss=self._held.auxiliary_loss + held.auxiliary_loss,
            )
        self._held = held

    def _decide(self, gate: GradientGate, scale: float) -> dict[Key, GateReport]:
        """Decides for each group and adds what was held to `p.grad`."""
        held, self._held = self._held, None
        assert held is not None
        reports = self._reports(gate, held, scale)
        for key, indices in self._groups.items():
            report = reports[key]
            weight = self._weight_of_ce(is_open=report.is_open)
            for index in indices:
                _accumulate(self._parameters[index], held.primary[index], weight)
                if report.is_open:
                    _accumulate(self._parameters[index], held.auxiliary[index], self.weight)
                held.primary[index] = held.auxiliary[index] = None
        return reports

    def _reports(self, gate: GradientGate, held: _Held, scale: float) -> dict[Key, GateReport]:
        reference = _sums(held.primary, held.outside)
        rows = []
        for indices in self._groups.values():
            angle, is_finite = self._measure(gate, indices, reference, held.auxiliary)
            # An overflow under a loss scale is not a broken loss: it goes on into `p.grad`, where
            # the scaler finds it, skips the update and lowers the scale.
            is_overflow = ~is_finite & held.auxiliary_loss.isfinite() & (scale > 1)
            is_open = gate.is_open(angle, is_finite) | is_overflow
            rows.append(torch.stack([angle, is_open.double(), is_finite.double()]))
        reports = {}
        for key, (angle, is_open, is_finite) in zip(
            self._groups, torch.stack(rows).tolist(), strict=True
        ):
            reports[key] = GateReport(
                angle=angle,
                is_open=bool(is_open),
                is_undefined=gate.needs_angle and angle != angle,
                is_finite=bool(is_finite),
            )
            if not is_finite and not is_open:
                warnings.warn(
                    f"contrastive gradient of {key!r} is not finite: dropped", RuntimeWarning, 2
                )
        return reports

    def _measure(
        self,
        gate: GradientGate,
        indices: range,
        reference: list[Tensor | None],
        auxiliary: list[Tensor | None],
    ) -> tuple[Tensor, Tensor]:
        """The angle on the parameters compared, the finiteness on all."""
        compared = [
            index
            for index in indices
            if gate.needs_angle
            and id(self._parameters[index]) in self._compared
            and (
                gate.parameters != "shared"
                or (reference[index] is not None and auxiliary[index] is not None)
            )
        ]
        gram = inner_products([reference[i] for i in compared], [auxiliary[i] for i in compared])
        rest = [auxiliary[index] for index in indices if index not in set(compared)]
        other = inner_products(rest, rest)
        return angle_of(gram), (gram[1, 1] + other[1, 1]).isfinite()

    def _add(self, gradients: list[Tensor | None]) -> None:
        for parameter, gradient in zip(self._parameters, gradients, strict=True):
            _accumulate(parameter, gradient, 1.0)

    def _weight_of_ce(self, *, is_open: bool) -> float:
        if self.ce_weight == "one":
            return 1.0
        is_fixed = self.gate is not None and self.gate.ce_weight_when_closed == "fixed"
        return 1.0 - self.weight if is_open or is_fixed else 1.0


def gated_backward(
    primary: Float[Tensor, ""],
    auxiliary: Float[Tensor, ""] | None,
    parameters: Iterable[Tensor],
    *,
    weight: float,
    gate: GradientGate | None,
    extra: Float[Tensor, ""] | None = None,
    ce_weight: CEWeight = "complement",
    scale: float = 1.0,
    compared: Iterable[Tensor] | None = None,
) -> GateReport | None:
    r"""Adds $(1-\lambda') g_{ce} + \lambda' g_{con} + g_{extra}$ to `p.grad` of the parameters.

    One micro-batch with one decision: `GatedBackward` with a single group, where the arguments
    are explained. The result is `None` if there was nothing to decide.

    >>> w = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    >>> report = gated_backward(w[0], -w[0], [w], weight=0.5, gate=GradientGate())
    >>> report.angle, report.is_open, w.grad
    (180.0, False, tensor([1., 0.]))
    """
    backward = GatedBackward(
        {"all": parameters}, weight=weight, gate=gate, ce_weight=ce_weight, compared=compared
    )
    return backward(primary, auxiliary, extra, scale=scale).get("all")


def _accumulate(parameter: Tensor, gradient: Tensor | None, weight: float) -> None:
    """Adds to `p.grad`, which stays `None` if there is nothing to add."""
    if gradient is None:
        return
    if parameter.grad is None:
        # A new tensor, since autograd may give one gradient to two parameters.
        parameter.grad = gradient * weight
    else:
        parameter.grad.add_(gradient, alpha=weight)


def _sum(loss: Tensor, extra: Tensor | None) -> Tensor:
    return loss if extra is None else loss + extra


def _sums(first: list[Tensor | None], second: list[Tensor | None]) -> list[Tensor | None]:
    """Entry by entry; `None` is zero."""
    return [
        b if a is None else a if b is None else a + b for a, b in zip(first, second, strict=True)
    ]
