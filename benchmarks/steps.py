"""Steps of training exactly as `exitwise train` takes them, one at a time."""

import copy
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

from torch import Tensor

from exitwise.data import PadBatch
from exitwise.gradients import unmeasured
from exitwise.recipe import Recipe, from_plain
from exitwise.regimes import Stage
from exitwise.run.folder import RunFolder
from exitwise.run.material import Material, prepare
from exitwise.run.stage import stage_trainer
from exitwise.run.stage_data import StageData
from exitwise.training import GateLog, cache_hidden_states, pad_hidden_states

MICRO_BATCH = 18  # MRPC's, by the batch plan


def mrpc(encoder: str, data_dir: str, *, rows: int | None = None) -> Recipe:
    """MRPC, or a seeded sample of it, in batches of 18 texts."""
    plain: dict[str, Any] = {
        "encoder": encoder,
        "data": {"task": "mrpc", "data_dir": data_dir},
        "training": {"micro_batch": MICRO_BATCH, "accumulation": 1},
    }
    if rows is not None:
        plain["data"]["train_rows"] = rows
    return from_plain(Recipe, plain)


class Steps:
    """A stage on a model of its own, with the Trainer's losses, gate, clipping and optimiser.

    Args:
        stage: what is trained.
        recipe: precision and batches.
        material: texts, and the model, which is copied.
        cached: reads hidden states that were computed beforehand.
    """

    def __init__(
        self, stage: Stage, recipe: Recipe, material: Material, *, cached: bool = False
    ) -> None:
        material = replace(material, model=copy.deepcopy(material.model))
        pad = PadBatch(material.tokenizer)
        texts = material.train, material.first_validation
        data = StageData(*texts, pad)
        if cached:
            states = cache_hidden_states(
                material.model, texts[0], pad, precision=recipe.training.precision
            )
            data = StageData(states, texts[1], pad_hidden_states)
        self._folder = tempfile.TemporaryDirectory()
        run = RunFolder(Path(self._folder.name))
        self.trainer = stage_trainer(
            stage, recipe, material, run, data, GateLog(None), [], unmeasured
        )
        self.trainer.current_gradient_accumulation_steps = 1
        self.model = material.model
        self.optimizer = self.trainer.create_optimizer()
        self._batches: Iterator[dict[str, Tensor]] = cycle(
            list(self.trainer.get_train_dataloader())
        )

    @property
    def num_batches(self) -> int:
        """Steps of an epoch."""
        return len(self.trainer.get_train_dataloader())

    def backward(self) -> None:
        """The forward and the backward passes on the next batch."""
        self.trainer.training_step(self.model, next(self._batches))

    def update(self) -> None:
        """Clipping and the optimiser's step."""
        self.trainer._clip_grad_norm(self.model)
        self.optimizer.step()
        self.model.zero_grad()

    def __call__(self) -> None:
        """A whole step."""
        self.backward()
        self.update()


def prepared(recipe: Recipe) -> tuple[Material, int]:
    """Texts and model of a recipe, and the model's number of layers."""
    material = prepare(recipe)
    return material, material.model.config.num_hidden_layers
