"""The end of a run that makes its model smaller."""

import logging
from collections.abc import Sequence
from dataclasses import replace

from transformers import TrainerCallback, set_seed

from exitwise.compression import TrainerFit
from exitwise.data import PadBatch, batch_plan
from exitwise.recipe import Recipe
from exitwise.run.folder import RunFolder
from exitwise.run.material import Material
from exitwise.run.stage import row_order

logger = logging.getLogger(__name__)


def compress(
    recipe: Recipe, material: Material, run: RunFolder, callbacks: Sequence[TrainerCallback]
) -> Material:
    """The material with the smaller model; what is broken off here begins here again."""
    assert recipe.compression is not None
    settings = recipe.training
    plan = batch_plan(
        len(material.train), micro_batch=settings.micro_batch, accumulation=settings.accumulation
    )
    fit = TrainerFit(
        material.train,
        PadBatch(material.tokenizer),
        row_order(recipe, material, plan.micro_batch),
        plan,
        settings,
        folder=run.stage_checkpoints("compression"),
        seed=recipe.seed,
        callbacks=tuple(callbacks),
    )
    before = material.model.num_parameters()
    set_seed(recipe.seed)
    model = recipe.compression.compress(material.model, fit)
    logger.info("compression: %d of %d parameters stay", model.num_parameters(), before)
    return replace(material, model=model)
