"""`MultiExitTrainer`: the stock Trainer with the gated step, one run for one stage."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from functools import reduce
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.utils import clip_grad_norm_
from torch.utils.data import Dataset, Sampler
from transformers import (
    EvalPrediction,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

from exitwise.encoders import layerwise
from exitwise.errors import UnsupportedError
from exitwise.gradients import GatedBackward, Measure, unmeasured
from exitwise.modeling import MultiExitForSequenceClassification
from exitwise.objectives import Terms
from exitwise.outputs import ExitOutput
from exitwise.regimes import Stage
from exitwise.training.dropout import use_fast_dropout
from exitwise.training.gate_log import GateLog
from exitwise.training.optimizer import grouped_optimizer
from exitwise.training.step import gated_step

Batch = dict[str, Tensor]
Rows = Dataset[Any]  # of token ids or of hidden states: the collator knows which
Collate = Callable[[list[Any]], Batch]


class MultiExitTrainer(Trainer):
    """Runs one stage of a regime.

    Each step is one forward pass and two backward passes (`exitwise.gradients`). Everything
    else, from progress and logging to checkpoints and resuming, is the stock Trainer's.

    In a stage with a frozen encoder, batches may hold `hidden` [m, n, l, d] of all exits'
    layers (`FrozenHiddenStates`) instead of token ids.

    Args:
        model: its parameters outside the stage are frozen here, its dropout is made fast.
        stage: what is trained.
        args: `max_grad_norm` is of all trained parameters, or of each exit if the encoder is
            frozen.
        train_dataset: rows with `labels`.
        eval_dataset: rows whose label may be -1.
        data_collator: rows to a batch.
        compute_metrics: gets `predictions` (a dict of `logits` [n, m, k] and embeddings by
            layer) and `label_ids` [n].
        sampler: the order of the training rows.
        class_weights: of cross-entropy.
        gate_log: where decisions go.
        callbacks: as in `Trainer`.
        measure: opens the part of the time that a piece of a step belongs to.
    """

    model: MultiExitForSequenceClassification

    def __init__(
        self,
        model: MultiExitForSequenceClassification,
        stage: Stage,
        args: TrainingArguments,
        *,
        train_dataset: Rows,
        eval_dataset: Rows | None = None,
        data_collator: Collate | None = None,
        compute_metrics: Callable[[EvalPrediction], dict[str, float]] | None = None,
        sampler: Sampler[int] | None = None,
        class_weights: Float[Tensor, " k"] | None = None,
        gate_log: GateLog | None = None,
        callbacks: list[TrainerCallback] | None = None,
        measure: Measure = unmeasured,
    ) -> None:
        if args.world_size > 1:
            raise UnsupportedError(
                f"training runs in one process, found {args.world_size}: "
                "gradients and negatives are not gathered over processes yet"
            )
        self.stage = stage
        self.groups = freeze_outside(model, stage)
        use_fast_dropout(model)
        super().__init__(
            model=model,
            args=args,
            train_dataset=train_dataset,
            eval_dataset=eval_dataset,
            data_collator=data_collator,
            compute_metrics=compute_metrics,
            callbacks=callbacks,
        )
        self._measure = measure
        self._sampler = sampler
        self._class_weights = class_weights
        self.gate_log = gate_log or GateLog(None)
        self._backward = GatedBackward(
            self.groups,
            weight=stage.objective.weight,
            gate=stage.objective.gate,
            ce_weight=stage.objective.ce_weight,
            compared=compared_parameters(model, stage),
            measure=measure,
        )

    def training_step(
        self, model: torch.nn.Module, inputs: Batch, num_items_in_batch: Tensor | int | None = None
    ) -> Tensor:
        """One forward pass, and the gated step on the losses of all exits of this moment."""
        layers = self.layers_now()
        self.set_modes(layers)
        inputs = self._prepare_inputs(inputs)
        with self._measure("forward"), self.accelerator.autocast():
            terms = self.losses(inputs, layers)
        return gated_step(self, self._backward, self.stage.objective, terms, self.gate_log)

    def layers_now(self) -> tuple[int, ...]:
        """The layers that the schedule trains at this moment."""
        return self.stage.layers_at(epoch=int(self.state.epoch or 0), step=self.state.global_step)

    def set_modes(self, layers: Iterable[int]) -> None:
        """Dropout in what is trained; what is frozen runs in evaluation mode."""
        trained = {id(self.model.exit(layer)) for layer in layers}
        parts = [self.model.encoder, *(self.model.exit(layer) for layer in self.model.exit_layers)]
        for part in parts:
            is_trained = id(part) in trained or not self.stage.freeze_encoder
            if part.training != is_trained:  # to go through all modules takes a millisecond
                part.train(is_trained)

    def losses(self, inputs: Batch, layers: Sequence[int]) -> Terms:
        """The terms of the objective, summed over the layers with the layers' weights."""
        teacher = self.stage.teacher if self.stage.objective.needs_teacher else None
        outputs = self.exit_outputs(inputs, layers if teacher is None else (*layers, teacher))
        each = [
            self.stage.objective(
                outputs[layer],
                inputs["labels"],
                teacher=None if teacher is None else outputs[teacher].detach(),
                class_weights=self._class_weights,
            ).scaled(self.stage.weight_of(layer))
            for layer in layers
        ]
        return reduce(Terms.plus, each)

    def exit_outputs(self, inputs: Batch, layers: Sequence[int]) -> dict[int, ExitOutput]:
        """The exits' outputs, from hidden states if the batch holds them, else from the text."""
        if "hidden" in inputs:
            hidden = dict(zip(self.model.exit_layers, inputs["hidden"], strict=True))
            chosen = {layer: hidden[layer] for layer in layers}
            return self.model.exits_from_hidden(chosen, inputs["attention_mask"])
        texts = {name: tensor for name, tensor in inputs.items() if name != "labels"}
        return self.model.exit_outputs(**texts, layers=layers)

    def prediction_step(
        self,
        model: torch.nn.Module,
        inputs: Batch,
        prediction_loss_only: bool,
        ignore_keys: list[str] | None = None,
    ) -> tuple[Tensor | None, Any, Tensor | None]:
        """No loss, as labels may lack; `logits` [n, m, k] and embeddings of the exits; labels."""
        inputs = self._prepare_inputs(inputs)
        with torch.no_grad(), self.accelerator.autocast():
            outputs = self.exit_outputs(inputs, self.stage.measured_layers)
        predictions = {
            f"embedding_{layer}": output.embedding.float() for layer, output in outputs.items()
        }
        predictions["logits"] = torch.stack(
            [output.logits.float() for output in outputs.values()], dim=1
        )
        return None, predictions, inputs["labels"]

    def create_optimizer(self, model: torch.nn.Module | None = None) -> torch.optim.Optimizer:
        """With one rate for the encoder and one for the exits."""
        if self.optimizer is None:
            self.optimizer = grouped_optimizer(
                self,
                learning_rate=self.stage.learning_rate,
                exit_learning_rate=self.stage.exit_learning_rate,
            )
            measure_steps(self.optimizer, self._measure)
        return self.optimizer

    def get_batch_samples(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - Trainer's own
        """The micro-batches of an update, as Trainer collects them."""
        with self._measure("data"):
            return super().get_batch_samples(*args, **kwargs)

    def evaluate(self, *args: Any, **kwargs: Any) -> dict[str, float]:  # noqa: ANN401
        """The scores on the validation set, as Trainer measures them."""
        with self._measure("evaluation"):
            scores: dict[str, float] = super().evaluate(*args, **kwargs)
        return scores

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Adds what the gate did since the last time."""
        super().log(self.gate_log.added_to(logs), start_time)

    def _save_checkpoint(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """Together with the decisions up to here: a resumed run does not take them again."""
        self.gate_log.write()
        super()._save_checkpoint(*args, **kwargs)

    def _clip_grad_norm(self, model: torch.nn.Module) -> Tensor:
        """Clips each group, so that an exit of a frozen stage is trained as if it were alone.

        The result is the norm of all gradients before it, which Trainer logs.
        """
        self.accelerator.unscale_gradients()
        with self._measure("clipping"):
            norms = [
                clip_grad_norm_(group, self.args.max_grad_norm) for group in self.groups.values()
            ]
        total: Tensor = torch.stack(norms).norm()
        return total

    def _get_train_sampler(self, train_dataset: Rows | None = None) -> Sampler[int] | None:
        """The order given at construction: rows of similar length side by side."""
        return self._sampler or super()._get_train_sampler(train_dataset)


def measure_steps(optimizer: torch.optim.Optimizer, measure: Measure) -> None:
    """Measures the optimiser's steps, wherever they are called from."""
    opened = ExitStack()
    optimizer.register_step_pre_hook(lambda *_: opened.enter_context(measure("optimiser")))
    optimizer.register_step_post_hook(lambda *_: opened.close())


def freeze_outside(
    model: MultiExitForSequenceClassification, stage: Stage
) -> dict[str, list[Tensor]]:
    """Freezes what the stage does not train; the rest by group of one gate decision."""
    model.requires_grad_(False)
    exits: dict[str, list[Tensor]] = {
        f"exit_{layer}": list(model.exit(layer).parameters()) for layer in stage.layers
    }
    if stage.freeze_encoder:
        groups = exits
    else:
        encoder = list(model.encoder.parameters())
        groups = {"all": [*encoder, *(each for group in exits.values() for each in group)]}
    for group in groups.values():
        for parameter in group:
            parameter.requires_grad_(True)
    return groups


def compared_parameters(
    model: MultiExitForSequenceClassification, stage: Stage
) -> list[Tensor] | None:
    """The parameters on which the stage's gate compares gradients, if it names a part."""
    gate = stage.objective.gate
    if gate is None:
        return None
    exits: list[Tensor] = [
        each for layer in stage.layers for each in model.exit(layer).parameters()
    ]
    if gate.shortcut == "last_layers":
        last = layerwise(model.encoder).layers[-gate.last_layers :]
        return [*exits, *(each for layer in last for each in layer.parameters())]
    if gate.parameters == "encoder":
        return list(model.encoder.parameters())
    return exits if gate.parameters == "exit" else None
