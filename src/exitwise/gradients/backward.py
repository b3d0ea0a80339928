"""The backward passes of an update: two gradients, one decision, no pass to combine them."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from typing import Generic, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from exitwise.gradients.comparison import Comparison
from exitwise.gradients.decision import Decisions, GateReport, Key, decide
from exitwise.gradients.gate import GradientGate
from exitwise.gradients.held import accumulate
from exitwise.gradients.measure import (
    CE,
    COMBINED,
    CONTRAST,
    GATE,
    SOFT_TARGETS,
    Measure,
    unmeasured,
)
from exitwise.gradients.shortcut import decide_beforehand

CEWeight = Literal["complement", "one"]


class GatedBackward(Generic[Key]):
    r"""Adds $(1-\lambda') g_{ce} + \lambda' g_{con} + g_{extra}$ to `p.grad`, batch by batch.

    The gate decides for each group of parameters by itself. With a frozen encoder the losses of
    the exits are independent, so that one backward pass of their summed cross-entropy and one
    of their summed contrastive losses serve the gates of all of them.

    Without an auxiliary loss or with weight 0 there is one backward pass, and so there is
    without a gate, of the combined loss. With a gate there are two, and one more of `extra`,
    which is part of the update but not of the angle. A parameter that no loss reaches keeps
    `grad = None`. With an auxiliary loss and no `extra`, a closed gate, weight 0 and plain
    cross-entropy leave the same bits in `p.grad`.

    On an accelerator the host does not wait for the decision: what a closed gate drops is
    masked there, and is zeros, not `None`, where cross-entropy brings nothing.
    Gates with a shortcut or an interval are read by the host.

    Memory: one gradient beside `p.grad`, the contrastive one; one more if the gate decides once
    an update of several micro-batches, one more if it compares with soft targets.

    Args:
        groups: the parameters of each decision; those without `requires_grad` are left out.
        weight: $\lambda$.
        gate: `None` keeps every batch.
        ce_weight: "complement" is $(1-\lambda) L_{ce} + \lambda L_{con}$ (the paper), "one" is
            $L_{ce} + \lambda L_{con}$.
        compared: the parameters on which the gradients are compared, all if `None`. Needed if
            the gate compares those of the encoder or of the exit: only the caller knows them.
        measure: opens the part of the time that a pass or a decision belongs to.
    """

    def __init__(
        self,
        groups: Mapping[Key, Iterable[Tensor]],
        *,
        weight: float,
        gate: GradientGate | None,
        ce_weight: CEWeight = "complement",
        compared: Iterable[Tensor] | None = None,
        measure: Measure = unmeasured,
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
            raise ValueError("each parameter belongs to one group, once; found one twice")
        if gate is not None and compared is None:
            named = gate.parameters if gate.shortcut == "none" else gate.shortcut
            if named in ("encoder", "exit", "last_layers"):
                raise ValueError(f"the gate compares the {named}: pass its parameters")
        if gate is not None and not gate.is_exact and len(self._groups) > 1:
            raise ValueError("a shortcut or an interval needs one decision for all parameters")
        chosen = {id(member) for member in (self._parameters if compared is None else compared)}
        self._is_compared = [id(parameter) in chosen for parameter in self._parameters]
        self._measure = measure
        self._num_passes = 0
        self._is_open = True  # as last decided, for a gate that decides at intervals
        self._comparison: Comparison | None = None

    def __call__(
        self,
        primary: Float[Tensor, ""],
        auxiliary: Float[Tensor, ""] | None = None,
        extra: Float[Tensor, ""] | None = None,
        *,
        scale: float = 1.0,
        is_last: bool = True,
        representations: Sequence[Tensor] = (),
    ) -> Mapping[Key, GateReport]:
        """Runs the backward passes of one micro-batch; the decisions, by group.

        There is none without a gate, without an auxiliary loss or with weight 0, for a group
        that neither loss reaches, and before the last micro-batch of an update if the gate
        decides once an update.

        Args:
            primary: cross-entropy, summed over the groups.
            auxiliary: the contrastive loss without its weight, summed over the groups.
            extra: what is added with weight 1 and outside the gate: soft targets.
            scale: multiplies all: 1 / accumulation, times the loss scale of a `GradScaler`.
                Above 1 a contrastive gradient that is not finite, of a loss that is, counts as
                an overflow and is left to the scaler; else it is dropped with a warning.
            is_last: whether the optimiser's update follows.
            representations: the embeddings that the losses were computed on, for a gate that
                compares these.
        """
        if auxiliary is None or self.weight == 0:
            self._backward(_total(primary, extra), scale, part=CE)
            return {}
        if self.gate is None:
            mixed = self._weight_of_ce(is_open=True) * primary + self.weight * auxiliary
            self._backward(_total(mixed, extra), scale, part=COMBINED)
            return {}
        if self.gate.is_exact:
            return self._gated(self.gate, primary, auxiliary, extra, scale, is_last=is_last)
        return self._cheaply_gated(self.gate, primary, auxiliary, extra, scale, representations)

    def _backward(self, loss: Tensor, scale: float, *, part: str, keep_graph: bool = False) -> None:
        """One backward pass. The scale goes in at the top, before anything can underflow."""
        with self._measure(part):
            torch.autograd.backward(
                loss,
                torch.full_like(loss, scale),
                retain_graph=keep_graph,
                inputs=self._parameters,
            )

    def _gated(
        self,
        gate: GradientGate,
        primary: Tensor,
        auxiliary: Tensor,
        extra: Tensor | None,
        scale: float,
        *,
        is_last: bool,
    ) -> Mapping[Key, GateReport]:
        """The passes of a gated micro-batch; that of cross-entropy last, to be compared."""
        comparison = self._comparison or self._new_comparison(gate)
        self._comparison = comparison
        if extra is not None and gate.compare_with == "ce":
            self._backward(extra, scale, part=SOFT_TARGETS, keep_graph=True)
        elif extra is not None:
            with comparison.soft_targets.receives():
                self._backward(extra, scale, part=SOFT_TARGETS, keep_graph=True)
        with comparison.towards_open.receives():
            self._backward(auxiliary, scale, part=CONTRAST, keep_graph=True)
        comparison.auxiliary_loss = comparison.auxiliary_loss + auxiliary.detach()
        is_once_an_update = gate.every == "update"
        with comparison.primary.receives() if is_once_an_update else comparison.during_backward():
            self._backward(primary, scale, part=CE)
        if is_once_an_update and not is_last:
            return {}
        self._comparison = None
        with self._measure(GATE):
            for index, gradient in comparison.rest():
                accumulate(self._parameters[index], gradient)
            return self._decide(gate, comparison, scale)

    def _cheaply_gated(
        self,
        gate: GradientGate,
        primary: Tensor,
        auxiliary: Tensor,
        extra: Tensor | None,
        scale: float,
        representations: Sequence[Tensor],
    ) -> Mapping[Key, GateReport]:
        """A decision beforehand, or the one that stands; then one pass of the combined loss."""
        is_due = self._num_passes % gate.interval == 0
        self._num_passes += 1
        reports: Mapping[Key, GateReport] = {}
        if is_due and gate.shortcut == "none":
            reports = self._gated(gate, primary, auxiliary, extra, scale, is_last=True)
            self._is_open = all(report.is_open for report in reports.values())
            return reports
        if is_due:
            compared = compress(self._parameters, self._is_compared)
            where = representations if gate.shortcut == "representation" else list(compared)
            reference = _total(primary, None if gate.compare_with == "ce" else extra)
            (key,) = self._groups
            with self._measure(GATE):
                reports = decide_beforehand(key, gate, reference, auxiliary, where, scale=scale)
            self._is_open = all(report.is_open for report in reports.values())
        mixed = self._weight_of_ce(is_open=self._is_open) * primary
        if self._is_open:
            mixed = mixed + self.weight * auxiliary
        self._backward(_total(mixed, extra), scale, part=COMBINED)
        return reports

    def _new_comparison(self, gate: GradientGate) -> Comparison:
        opened, closed = (self._weight_of_ce(is_open=is_open) for is_open in (True, False))
        return Comparison(
            gate,
            self._parameters,
            is_compared=self._is_compared,
            ce_weight_closed=closed,
            ce_difference=0.0 if opened == closed else -1.0,
        )

    def _decide(self, gate: GradientGate, comparison: Comparison, scale: float) -> Decisions[Key]:
        """Decides for each group that a loss reaches; opens the gate where it may."""
        may_overflow = comparison.auxiliary_loss.isfinite() & (scale > 1)
        compared = {key: comparison.compared(members) for key, members in self._groups.items()}
        decisions = Decisions(
            gate,
            {
                key: decide(gate, found, may_overflow=may_overflow)
                for key, found in compared.items()
                if found
            },
        )
        is_at_hand = decisions.is_at_hand
        for key in decisions:
            if is_at_hand and not decisions[key].is_open:
                continue
            for index in self._groups[key]:
                gradient = comparison.towards_open.pop(index)
                if gradient is not None and not is_at_hand:
                    # Not a product: 0 times infinity is not a number.
                    gradient.masked_fill_(~decisions.is_open(key), 0.0)
                accumulate(self._parameters[index], gradient, self.weight)
        return decisions

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


def _total(loss: Tensor, extra: Tensor | None) -> Tensor:
    return loss if extra is None else loss + extra
