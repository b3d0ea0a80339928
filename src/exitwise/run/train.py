"""`train(recipe)`: a plan, stage by stage, into a run folder."""

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from transformers import TrainerCallback, set_seed

from exitwise.data import Splits, TextDataset
from exitwise.encoders import layerwise
from exitwise.gradients import Measure, unmeasured
from exitwise.inference.torch_engine import TorchEngine
from exitwise.modeling import MultiExitForSequenceClassification
from exitwise.recipe import Recipe, recipe_hash, to_plain
from exitwise.regimes import Stage
from exitwise.run.compress import compress
from exitwise.run.environment import environment
from exitwise.run.folder import RunFolder, run_of
from exitwise.run.material import Material, planned_stages, prepare
from exitwise.run.measure import measure
from exitwise.run.stage import run_stage
from exitwise.run.stopwatch import Stopwatch
from exitwise.training import CacheSettings, Timings, choose_hardware, compile_layers, dtype_of
from exitwise.whole_files import write_folder, write_text

logger = logging.getLogger(__name__)


def train(
    recipe: Recipe,
    folder: Path | str,
    *,
    resume: bool = False,
    force: bool = False,
    callbacks: Sequence[TrainerCallback] = (),
    cache: CacheSettings = CacheSettings(),  # noqa: B008 - frozen
    profile: bool = False,
) -> dict[str, Any]:
    """Runs all stages of the recipe's regime and writes the run folder.

    What may be wrong with the recipe, the data or the model is found before training begins,
    and before anything is written.

    Args:
        recipe: what to train.
        folder: where to; made if it does not exist.
        resume: go on with a run that was broken off, from its last whole checkpoint. A run that
            has ended is left as it is.
        force: start again where there is a run already; that one is lost.
        callbacks: told of the progress, as in transformers.
        cache: how much of a frozen encoder's hidden states may be kept, and where.
        profile: tell where the time went: `profile` in the result, seconds by stage and part.

    Returns:
        The content of `result.json`. Its `seconds`, by stage and in all, are those of all
        sessions of a run that was resumed.
    """
    run = RunFolder(Path(folder))
    run.check(recipe, resume=resume, force=force)
    if run.is_finished and resume:
        logger.info("%s has ended already", run.path)
        return run.read_result()
    material = prepare(recipe)
    stages = planned_stages(recipe)
    fingerprint = material.splits.train.fingerprint
    if resume:
        run.check_data(fingerprint)
    if recipe.training.compile:
        compile_layers(layerwise(material.model.encoder).layers)
    run.open(recipe, fingerprint, resume=resume)
    with log_file(run.log):
        choose_hardware(recipe.training)
        write_text(run.train_rows, "\n".join(learned_rows(recipe, material.splits.train)) + "\n")
        write_text(run.environment, json.dumps(environment(), indent=2) + "\n")
        watch = Stopwatch(run.seconds)
        profiles: dict[str, dict[str, float]] = {}
        told = [*callbacks, watch]
        with watch.part("all"):
            for stage in stages:
                timings = Timings()
                measure = timings.measure if profile else unmeasured
                with watch.part(stage.name):
                    is_new = complete_stage(stage, recipe, material, run, told, cache, measure)
                if is_new:
                    profiles[stage.name] = timings.table()
            if recipe.compression is not None:
                with watch.part("compression"):
                    material = compress(recipe, material, run, callbacks)
            write_folder(run.model, lambda path: save_model(material, path))
            result = describe(recipe, material, stages, run)
        result["seconds"] = watch.table()
        if profile:
            result["profile"] = profiles
        run.write_result(result)
    return result


def complete_stage(
    stage: Stage,
    recipe: Recipe,
    material: Material,
    run: RunFolder,
    callbacks: Sequence[TrainerCallback],
    cache: CacheSettings,
    measure: Measure,
) -> bool:
    """Trains a stage, or takes its model where it is finished; whether it was trained now."""
    finished = run.finished_stage(stage.name)
    if finished.exists():
        model = MultiExitForSequenceClassification.from_pretrained(finished)
        material.model.load_state_dict(model.state_dict())
        logger.info("stage %s is finished already", stage.name)
        return False
    logger.info(
        "stage %s: %d epochs, exits %s", stage.name, stage.epochs, ", ".join(map(str, stage.layers))
    )
    set_seed(recipe.seed)  # a stage does not depend on what ran before it in the process
    run_stage(stage, recipe, material, run, callbacks, cache, measure)
    return True


def learned_rows(recipe: Recipe, texts: TextDataset) -> list[str]:
    """The hashes of a training set's rows, and of those that the first model had learned from."""
    before = set() if recipe.start_from is None else run_of(recipe.start_from).read_train_rows()
    return [*texts.row_hashes, *sorted((before or set()) - set(texts.row_hashes))]


def save_model(material: Material, path: Path) -> None:
    """The classifier with its tokenizer, as `from_pretrained` and pipelines read them."""
    material.model.config.takes_pairs = material.splits.train.pairs is not None
    material.model.save_pretrained(path)
    material.tokenizer.save_pretrained(path)


def describe(
    recipe: Recipe, material: Material, stages: Sequence[Stage], run: RunFolder
) -> dict[str, Any]:
    """What there is to say of a finished run, but for the time it took."""
    layers = sorted({layer for stage in stages for layer in stage.measured_layers})
    if recipe.compression is not None:
        layers = list(material.model.exit_layers)
    engine = TorchEngine(
        material.model,
        material.tokenizer,
        dtype=dtype_of(recipe.training.precision),
    )
    return {
        "recipe": to_plain(recipe),
        "recipe_hash": recipe_hash(recipe),
        "data": {
            "train": describe_texts(material.splits.train),
            "validation": {
                name: describe_texts(texts) for name, texts in material.splits.validation.items()
            },
            "labels": list(material.splits.label_names),
            "metric": material.splits.metric,
        },
        "scores": {
            name: measure(
                engine,
                texts,
                layers=layers,
                metric=material.splits.metric,
                train_labels=material.splits.train.labels,
            )
            for name, texts in measured_sets(material.splits).items()
        },
        "gates": {stage.name: summarise_gates(run.gates(stage.name)) for stage in stages},
        "environment": json.loads(run.environment.read_text()),
    }


def measured_sets(splits: Splits) -> dict[str, TextDataset]:
    """The sets that are scored at the end: validation, and the test set if there is one."""
    return splits.validation | ({} if splits.test is None else {"test": splits.test})


def describe_texts(texts: TextDataset) -> dict[str, Any]:
    """Where texts come from, how many they are, and by what they are known again."""
    return {"source": texts.source, "rows": len(texts), "fingerprint": texts.fingerprint}


def summarise_gates(path: Path) -> dict[str, dict[str, Any]]:
    """Of each group's decisions: how many, the mean angle, the share above 90 degrees and open."""
    angles: dict[str, list[float]] = {}
    opened: dict[str, list[bool]] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        decision = json.loads(line)
        opened.setdefault(decision["group"], []).append(decision["open"])
        if decision["angle"] is not None:
            angles.setdefault(decision["group"], []).append(decision["angle"])
    return {
        group: {
            "decisions": len(decisions),
            "undefined": len(decisions) - len(angles.get(group, ())),
            "mean_angle": float(np.mean(angles[group])) if group in angles else None,
            "share_above_90": float(np.mean(np.greater(angles[group], 90)))
            if group in angles
            else None,
            "share_open": float(np.mean(decisions)),
        }
        for group, decisions in opened.items()
    }


@contextmanager
def log_file(path: Path) -> Iterator[None]:
    """Writes what exitwise logs to a file as well, appended to."""
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    package = logging.getLogger("exitwise")
    before = package.level
    package.addHandler(handler)
    package.setLevel(min(logging.INFO, before or logging.INFO))
    try:
        yield
    finally:
        package.removeHandler(handler)
        package.setLevel(before)
        handler.close()
