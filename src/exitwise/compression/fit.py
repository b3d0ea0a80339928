"""Training of whatever has a loss, with the stock Trainer."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader, Sampler
from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments

from exitwise.compression.base import Batch
from exitwise.data import BatchPlan
from exitwise.training import (
    Collate,
    Rows,
    TrainingSettings,
    grouped_optimizer,
    training_arguments,
    use_fast_dropout,
)


class TrainerFit:
    """`Fit` on the rows of a run.

    Args:
        rows: the training set.
        collate: rows to a batch.
        sampler: the order of the rows.
        plan: how many rows a forward pass and an update see.
        settings: what all stages of a recipe share.
        folder: for what the Trainer may write.
        seed: of dropout.
        callbacks: told of the progress, as in transformers.
    """

    def __init__(
        self,
        rows: Rows,
        collate: Collate,
        sampler: Sampler[int],
        plan: BatchPlan,
        settings: TrainingSettings,
        *,
        folder: Path,
        seed: int,
        callbacks: tuple[TrainerCallback, ...] = (),
    ) -> None:
        self.updates_per_epoch = plan.updates_per_epoch
        self._rows = rows
        self._collate = collate
        self._sampler = sampler
        self._plan = plan
        self._settings = settings
        self._folder = folder
        self._seed = seed
        self._callbacks = callbacks

    def __call__(
        self,
        trainee: nn.Module,
        *,
        epochs: int,
        learning_rate: float,
        exit_learning_rate: float | None = None,
    ) -> None:
        """Trains in place; see `Fit`."""
        use_fast_dropout(trainee)
        trainer = PlainTrainer(
            trainee,
            training_arguments(
                self._settings,
                self._plan,
                epochs=epochs,
                learning_rate=learning_rate,
                folder=self._folder,
                seed=self._seed,
            ),
            exit_learning_rate=exit_learning_rate or learning_rate,
            sampler=self._sampler,
            train_dataset=self._rows,
            data_collator=self._collate,
            callbacks=list(self._callbacks),
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()

    def batches(self) -> Iterator[Batch]:
        """One pass over the training data; see `Fit`."""
        device = torch.accelerator.current_accelerator() or torch.device("cpu")
        loader = DataLoader(
            self._rows,
            batch_size=self._plan.micro_batch,
            sampler=self._sampler,
            collate_fn=self._collate,
        )
        for batch in loader:
            yield {name: tensor.to(device) for name, tensor in batch.items()}


class PlainTrainer(Trainer):
    """The stock Trainer with our order of rows and a rate of its own for exits."""

    def __init__(
        self,
        trainee: nn.Module,
        args: TrainingArguments,
        *,
        exit_learning_rate: float,
        sampler: Sampler[int],
        **others: Any,  # noqa: ANN401 - the Trainer's own
    ) -> None:
        super().__init__(model=trainee, args=args, **others)
        self.model_accepts_loss_kwargs = False  # the loss of a micro-batch is its own mean
        self._exit_learning_rate = exit_learning_rate
        self._sampler = sampler

    def create_optimizer(self, model: nn.Module | None = None) -> torch.optim.Optimizer:
        """With the same groups as in a stage."""
        if self.optimizer is None:
            self.optimizer = grouped_optimizer(
                self,
                learning_rate=self.args.learning_rate,
                exit_learning_rate=self._exit_learning_rate,
            )
        return self.optimizer

    def _get_train_sampler(self, train_dataset: Rows | None = None) -> Sampler[int]:
        return self._sampler
