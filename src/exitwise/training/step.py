"""The gated step: what both trainers do with the losses of a micro-batch."""

from torch import Tensor
from transformers import Trainer

from exitwise.gradients import GatedBackward
from exitwise.objectives import Objective, Terms
from exitwise.training.gate_log import GateLog


def gated_step(
    trainer: Trainer,
    backward: GatedBackward[str],
    objective: Objective,
    terms: Terms,
    gate_log: GateLog,
) -> Tensor:
    """Adds the gradients of a micro-batch to `p.grad`; the loss, as if the gate were open.

    Every micro-batch counts the same in an update, so that n equal ones make one batch. The
    loss scale of fp16 multiplies all gradients and leaves the angle as it is.
    """
    micro_batches = trainer.current_gradient_accumulation_steps
    scaler = getattr(trainer.accelerator, "scaler", None)
    loss_scale = 1.0 if scaler is None else scaler.get_scale()
    reports = backward(
        terms.primary,
        terms.auxiliary,
        terms.soft_targets,
        scale=loss_scale / micro_batches,
        is_last=trainer.accelerator.sync_gradients,
        representations=terms.representations,
    )
    gate_log.add(trainer.state.global_step, reports)
    gate_log.count_empty(terms.has_positive)
    return objective.combined(terms).detach() / micro_batches
