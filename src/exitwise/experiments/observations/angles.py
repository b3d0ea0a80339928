"""The angle between the gradients of a contrastive loss and cross-entropy (figure 2)."""

from itertools import islice
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from exitwise.data import LengthBucketSampler, batch_plan
from exitwise.experiments.observations.finished import Batch, Finished
from exitwise.gradients import gradient_angle
from exitwise.modeling import MultiExitForSequenceClassification
from exitwise.objectives import Auxiliary, SupervisedContrast
from exitwise.recipe import Recipe


def angles(finished: Finished, num_batches: int) -> dict[str, Any]:
    """Degrees between the two gradients over all parameters, batch by batch (section 9.3).

    A batch is what the training's contrastive loss saw at once: a micro-batch, in the order of
    the first epoch, similar lengths together. Accumulation adds up gradients of several, and so
    does not count. The model is in evaluation mode and float32, h is that of the last exit,
    and the contrastive loss is `contrast_of`.
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


def contrast_of(recipe: Recipe, num_layers: int) -> Auxiliary:
    """The recipe's own contrastive loss: SCL or ACL-Embed; SCL where it has none.

    Of several stages that have one the first decides. A loss that needs a teacher has none here.
    """
    stages = () if recipe.regime is None else recipe.regime.stages(num_layers)
    for stage in stages:
        found = stage.objective.auxiliary
        if found is not None and not found.needs_teacher:
            return found
    return SupervisedContrast()


def angle(model: MultiExitForSequenceClassification, batch: Batch, contrast: Auxiliary) -> float:
    """Of one batch; NaN where a gradient is zero."""
    texts, labels = batch
    output = model.exit_outputs(**texts, layers=[model.num_layers])[model.num_layers]
    parameters = [each for each in model.parameters() if each.requires_grad]
    first, second = (
        torch.autograd.grad(loss, parameters, retain_graph=True, allow_unused=True)
        for loss in (contrast(output, labels), cross_entropy(output.logits, labels))
    )
    return gradient_angle(first, second).item()
