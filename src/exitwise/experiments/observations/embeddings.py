"""Embeddings of one exit with its label embeddings, in two dimensions (figure 6)."""

from typing import Any

import numpy as np
import torch

from exitwise.experiments.answers import digits
from exitwise.experiments.observations.finished import Finished
from exitwise.losses.contrastive import unit_rows


def embeddings(finished: Finished, layer: int) -> dict[str, Any]:
    """Samples and label embeddings of an exit on the unit sphere, by t-SNE in two dimensions.

    The samples are the `compared_rows`: more would be a cloud.
    """
    from sklearn.manifold import TSNE

    outputs, labels = finished.compared()
    output = outputs[layer]
    points = unit_rows(torch.cat([output.embedding, output.label_embeddings])).numpy(force=True)
    perplexity = min(30.0, (len(points) - 1) / 3)
    found = TSNE(perplexity=perplexity, random_state=finished.recipe.seed).fit_transform(points)
    return {
        "layer": layer,
        "labels": digits(labels.numpy(force=True)),
        "samples": np.round(found[: len(labels)], 2).tolist(),
        "label_embeddings": np.round(found[len(labels) :], 2).tolist(),
    }
