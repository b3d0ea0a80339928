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
from exitwise.objectives import SupervisedContrast


def angles(finished: Finished, num_batches: int) -> dict[str, Any]:
    """Degrees between the gradients of SCL and cross-entropy over all parameters (section 9.3).

    Training batches of the training's size, the model in evaluation mode, h of the last exit.
    """
    model, recipe = finished.engine.model, finished.recipe
    encoded = finished.encoded(finished.splits.train)
    size = recipe.training.micro_batch or batch_plan(len(encoded)).micro_batch
    order = LengthBucketSampler(encoded.lengths, batch_size=size, seed=recipe.seed)
    contrast = SupervisedContrast()
    batches = islice(finished.batches(encoded, order, size), num_batches)
    found = [angle(model, batch, contrast) for batch in batches]
    defined = [round(each, 3) for each in found if not np.isnan(each)]
    return {"angles": defined, "undefined": len(found) - len(defined), "batch": size}


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
