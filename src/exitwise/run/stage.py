"""One stage of a run: the Trainer, the data it sees, and what it leaves."""

import json
import logging
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import Sampler
from transformers import (
    EarlyStoppingCallback,
    EvalPrediction,
    PrinterCallback,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)

from exitwise.data import (
    ClassBalancedSampler,
    LengthBucketSampler,
    batch_plan,
    class_weights,
)
from exitwise.gradients import Measure
from exitwise.metrics import Scores
from exitwise.recipe import Recipe
from exitwise.regimes import Stage
from exitwise.run.folder import RunFolder
from exitwise.run.material import Material
from exitwise.run.stage_data import StageData, stage_data
from exitwise.training import (
    CacheSettings,
    ExitPredictions,
    GateLog,
    MultiExitTrainer,
    average_score,
    exit_scores,
    stage_arguments,
    warn_of_constant_exits,
)
from exitwise.whole_files import write_folder

logger = logging.getLogger(__name__)

ExitScores = dict[int, Scores]


def run_stage(
    stage: Stage,
    recipe: Recipe,
    material: Material,
    run: RunFolder,
    callbacks: Sequence[TrainerCallback],
    cache: CacheSettings,
    measure: Measure,
) -> None:
    """Trains a stage, from its last checkpoint if there is one, and keeps the model it ends with.

    The model of `material` is trained in place.
    """
    checkpoint = run.last_checkpoint(stage.name)
    gate_log = GateLog(run.gates(stage.name))
    gate_log.forget_after(0 if checkpoint is None else steps_of(checkpoint))
    with ExitStack() as opened:
        with measure("hidden states"):
            data = opened.enter_context(
                stage_data(stage, recipe, material, cache, run.hidden_states)
            )
        trainer = stage_trainer(stage, recipe, material, run, data, gate_log, callbacks, measure)
        if checkpoint is not None:
            logger.info("stage %s goes on from %s", stage.name, checkpoint.name)
        trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
    write_folder(run.finished_stage(stage.name), material.model.save_pretrained)


def stage_trainer(
    stage: Stage,
    recipe: Recipe,
    material: Material,
    run: RunFolder,
    data: StageData,
    gate_log: GateLog,
    callbacks: Sequence[TrainerCallback],
    measure: Measure,
) -> MultiExitTrainer:
    """The Trainer of a stage."""
    settings = recipe.training
    plan = batch_plan(
        len(material.train), micro_batch=settings.micro_batch, accumulation=settings.accumulation
    )
    arguments = stage_arguments(
        stage, settings, plan, folder=run.stage_checkpoints(stage.name), seed=recipe.seed
    )
    logger.info(
        "updates of %d x %d texts, %s",
        plan.accumulation,
        plan.micro_batch,
        "classes balanced" if recipe.data.balanced_sampling else "similar lengths together",
    )
    record = EpochRecord(run.metrics, stage, material)
    early = settings.early_stopping
    trainer = MultiExitTrainer(
        material.model,
        stage,
        arguments,
        train_dataset=data.train,
        eval_dataset=data.validation,
        data_collator=data.collate,
        compute_metrics=record.measure,
        sampler=row_order(recipe, material, plan.micro_batch),
        class_weights=balanced_weights(material) if settings.class_weights else None,
        gate_log=gate_log,
        callbacks=[*callbacks, record, *([EarlyStoppingCallback(early)] if early else [])],
        measure=measure,
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


class EpochRecord(TrainerCallback):
    """Measures all exits after each epoch and keeps the numbers, one JSON line an epoch.

    Args:
        path: the file, appended to.
        stage: what is trained; its exits' mean score chooses the best epoch.
        material: metric, layers and names of the classes.
    """

    def __init__(self, path: Path, stage: Stage, material: Material) -> None:
        self._path = path
        self._stage = stage
        self._material = material
        self._scores: ExitScores = {}

    def measure(self, prediction: EvalPrediction) -> dict[str, float]:
        """The scores of all exits, flat as the Trainer wants them."""
        predictions = exit_predictions(prediction, self._stage.measured_layers)
        warn_of_constant_exits(predictions, self._material.splits.label_names)
        self._scores = exit_scores(predictions, self._material.splits.metric)
        scored = {layer: scores["score"] for layer, scores in self._scores.items() if scores}
        flat = {f"exit_{layer}": score for layer, score in scored.items()}
        trained = [scored[layer] for layer in self._stage.layers if layer in scored]
        return flat | ({"score": float(np.mean(trained))} if trained else {})

    def on_evaluate(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **kwargs: object,
    ) -> None:
        """Appends what was measured; a line of a broken-off attempt at the epoch is replaced."""
        line = {
            "stage": self._stage.name,
            "epoch": state.epoch,
            "step": state.global_step,
            "exits": {str(layer): scores for layer, scores in self._scores.items()},
            "average": average_score(self._scores),
        }
        before = self._path.read_text().splitlines() if self._path.exists() else []
        kept = [each for each in before if not self._is_later(json.loads(each), state)]
        self._path.write_text("\n".join([*kept, json.dumps(line)]) + "\n")

    def _is_later(self, line: dict[str, object], state: TrainerState) -> bool:
        step = line["step"]
        assert isinstance(step, int)
        return line["stage"] == self._stage.name and step >= state.global_step


def exit_predictions(prediction: EvalPrediction, layers: tuple[int, ...]) -> ExitPredictions:
    """What the Trainer collected, by exit."""
    collected = prediction.predictions
    assert isinstance(collected, dict)
    return ExitPredictions(
        layers=layers,
        logits=collected["logits"].swapaxes(0, 1),
        embeddings={layer: collected[f"embedding_{layer}"] for layer in layers},
        labels=prediction.label_ids,
    )


def row_order(recipe: Recipe, material: Material, micro_batch: int) -> Sampler[int]:
    """The order of the training rows: by seed, similar lengths together, or classes balanced."""
    if recipe.data.balanced_sampling:
        return ClassBalancedSampler(material.splits.train.labels, seed=recipe.seed)
    return LengthBucketSampler(material.train.lengths, batch_size=micro_batch, seed=recipe.seed)


def balanced_weights(material: Material) -> torch.Tensor:
    """Weights of cross-entropy that let every class count the same."""
    weights = class_weights(material.splits.train.labels, len(material.splits.label_names))
    return weights.to(material.model.device)


def steps_of(checkpoint: Path) -> int:
    """The updates done at a checkpoint of the Trainer."""
    return int(checkpoint.name.rpartition("-")[2])
