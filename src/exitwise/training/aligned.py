"""`AlignedTrainer`: the stock Trainer with the better loss, for any stock classifier."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn
from transformers import PreTrainedModel, Trainer

from exitwise.errors import UnsupportedError
from exitwise.gradients import GatedBackward
from exitwise.objectives import Objective
from exitwise.outputs import ExitOutput
from exitwise.training.classification_head import captured, find_head
from exitwise.training.gate_log import GateLog
from exitwise.training.step import gated_step


class AlignedTrainer(Trainer):
    r"""A drop-in for `transformers.Trainer` that trains with ACL-Embed and ACL-Grad.

    The model is any `AutoModelForSequenceClassification` whose logits are one `nn.Linear` of
    one vector per text. That layer's rows are the label embeddings, and its input, after the
    model's own dropout, is the embedding $h$. A bias gets gradient from cross-entropy only.
    The model stays as it is, and loads without exitwise when it is saved.

    Cross-entropy is what the stock Trainer computes, so label smoothing and a `compute_loss_func`
    stay in force.

    Args:
        *args: as in `Trainer`.
        objective: what is added to cross-entropy: by default $\lambda = 0.02$ of ACL-Embed
            with the gate. It cannot have a teacher, since there is one exit.
        **kwargs: as in `Trainer`.
    """

    model: PreTrainedModel
    objective: Objective

    def __init__(  # the signature of Trainer, whatever it is, with one addition
        self,
        *args: Any,  # noqa: ANN401
        objective: Objective = Objective.acl(),  # noqa: B008 - frozen
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(*args, **kwargs)
        if objective.needs_teacher:
            raise ValueError("a stock classifier has one exit and no teacher: leave both out")
        if self.args.world_size > 1 or self.args.n_gpu > 1:
            raise UnsupportedError(
                "AlignedTrainer runs in one process on one device: gradients and negatives are "
                f"not gathered yet, found {self.args.world_size} processes, {self.args.n_gpu} GPUs"
            )
        self.objective = objective
        self.head = find_head(self.model)
        self.gate_log = GateLog(None)
        self._gated_backward = GatedBackward(
            {"all": self.model.parameters()},
            weight=objective.weight,
            gate=objective.gate,
            ce_weight=objective.ce_weight,
            compared=self._compared_parameters(),
        )

    def training_step(
        self,
        model: nn.Module,
        inputs: dict[str, Tensor],
        num_items_in_batch: Tensor | int | None = None,
    ) -> Tensor:
        """One forward pass of the model as it is, and the gated step on its losses."""
        model.train()
        inputs = self._prepare_inputs(inputs)
        labels = inputs["labels"]
        with self.compute_loss_context_manager(), captured(self.head) as record:
            loss = self.compute_loss(model, inputs)
        assert isinstance(loss, Tensor)  # not asked for the outputs
        student = ExitOutput(record.outputs[0], record.inputs[0], self.head.weight)
        terms = self.objective(student, labels)._replace(primary=loss)
        return gated_step(self, self._gated_backward, self.objective, terms, self.gate_log)

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Adds what the gate did since the last time."""
        super().log(self.gate_log.added_to(logs), start_time)

    def _compared_parameters(self) -> Sequence[Tensor] | None:
        gate = self.objective.gate
        if gate is not None and gate.shortcut == "last_layers":
            raise UnsupportedError(
                "a stock classifier's layers are not known here: give the gate the shortcut "
                "'representation', or none"
            )
        if gate is None or gate.parameters not in ("encoder", "exit"):
            return None
        head = {id(parameter) for parameter in self.head.parameters()}
        is_exit = gate.parameters == "exit"
        return [each for each in self.model.parameters() if (id(each) in head) == is_exit]
