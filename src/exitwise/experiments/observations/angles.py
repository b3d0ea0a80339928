"""The angle between the gradients of SCL and cross-entropy, batch by batch (figure 2)."""

from itertools import islice
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from exitwise.data import LengthBucketSampler, batch_plan
from exitwise.experiments.observations.finished import Batch, Finished
from exitwise.gradients import gradient_angle
from exitwise.modeling import MultiExitForSequenceClassification
from exitwise.objectives import Contrast, SupervisedContrast
from exitwise.recipe import Recipe


def angles(finished: Finished, num_batches: int) -> dict[str, Any]:
    """Degrees between the gradients of SCL and cross-entropy over all parameters (section 9.3).

    A batch is what the training's contrastive loss saw at once: a micro-batch, in the order of
    the first epoch, similar lengths together. Accumulation adds up gradients of several, and so
    does not count. The model is in evaluation mode and float32, h is that of the last exit, and
    SCL has the settings of `contrast_of`.
    """
    model, recipe = finished.engine.model, finished.recipe
    encoded, settings = finished.encoded(finished.splits.train), recipe.training
    size = batch_plan(
        len(encoded), micro_batch=settings.micro_batch, accumulation=settings.accumulation
    ).micro_batch
    order = LengthBucketSampler(encoded.lengths, batch_size=size, seed=recipe.seed)
    contrast = contrast_of(recipe, model.num_layers)
    batches = islice(finished.batches(encoded, order, size), num_batches)
    found = [angle(model, batch, contrast) for batch in batches]
    defined = [round(each, 3) for each in found if not np.isnan(each)]
    return {"angles": defined, "undefined": len(found) - len(defined), "batch": size}


def contrast_of(recipe: Recipe, num_layers: int) -> SupervisedContrast:
    """SCL with temperature, denominator and normalisation of the recipe's contrastive loss.

    Of several stages that have one the first decides; without any, the paper's defaults.
    """
    stages = () if recipe.regime is None else recipe.regime.stages(num_layers)
    auxiliaries = (stage.objective.auxiliary for stage in stages)
    found = next((each for each in auxiliaries if isinstance(each, Contrast)), SupervisedContrast())
    return SupervisedContrast(
        temperature=found.temperature,
        denominator=found.denominator,
        reduction=found.reduction,
        normalize=found.normalize,
    )


def angle(
    model: MultiExitForSequenceClassification, batch: Batch, contrast: SupervisedContrast
) -> float:
    """Of one batch; NaN where a gradient is zero."""
    texts, labels = batch
    output = model.exit_outputs(**texts, layers=[model.num_layers])[model.num_layers]
    parameters = [each for each in model.parameters() if each.requires_grad]
    first, second = (
        torch.autograd.grad(loss, parameters, retain_graph=True, allow_unused=True)
        for loss in (contrast(output, labels), cross_entropy(output.logits, labels))
    )
    return gradient_angle(first, second).item()
