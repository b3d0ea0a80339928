"""What is looked up in a finished model beyond its scores.

answers       of every validation row, by exit: for intervals over examples
geometry      of every exit's embeddings: alignment, uniformity, nearness to the own label embedding
angles        between the gradients of SCL and cross-entropy, batch by batch (figure 2)
embeddings    of one exit with its label embeddings, in two dimensions (figure 6)
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import cosine_similarity, cross_entropy

from exitwise.data import (
    EncodedTexts,
    LengthBucketSampler,
    PadBatch,
    Splits,
    batch_plan,
    load_splits,
)
from exitwise.gradients import gradient_angle
from exitwise.inference.torch_engine import TorchEngine
from exitwise.losses import supervised_contrastive_loss
from exitwise.losses.diagnostics import geometry
from exitwise.outputs import ExitOutput
from exitwise.recipe import Recipe
from exitwise.run import RunFolder
from exitwise.run.material import encode_for

Batch = dict[str, Tensor]
EVALUATION_ROWS = 64


@dataclass(frozen=True)
class Finished:
    """A trained model with the data that it was trained on."""

    recipe: Recipe
    engine: TorchEngine
    splits: Splits

    @classmethod
    def load(cls, recipe: Recipe, folder: str) -> "Finished":
        """From the run folder of a recipe."""
        splits = load_splits(recipe.data, seed=recipe.seed)
        return cls(recipe, TorchEngine.from_pretrained(folder), splits)

    def outputs(self) -> tuple[dict[int, ExitOutput], np.ndarray]:
        """All exits on the first validation set, and its labels, in the order of its rows."""
        texts = next(iter(self.splits.validation.values()))
        encoded = encode_for(self.engine.model, self.engine.tokenizer, texts)
        parts = [self._run(batch) for batch in self.batches(encoded, range(len(encoded)))]
        joined = {
            layer: ExitOutput(
                logits=torch.cat([part[layer].logits for part in parts]),
                embedding=torch.cat([part[layer].embedding for part in parts]),
                label_embeddings=parts[0][layer].label_embeddings,
            )
            for layer in parts[0]
        }
        return joined, np.asarray(texts.labels)

    def batches(
        self,
        encoded: EncodedTexts,
        order: Iterable[int],
        rows: int = EVALUATION_ROWS,
    ) -> Iterator[Batch]:
        """Rows in an order, padded."""
        pad = PadBatch(self.engine.tokenizer)
        indices = list(order)
        for start in range(0, len(indices), rows):
            batch = pad([encoded[index] for index in indices[start : start + rows]])
            yield {name: each.to(self.engine.model.device) for name, each in batch.items()}

    @torch.no_grad()
    def _run(self, batch: Batch) -> dict[int, ExitOutput]:
        texts = {name: tensor for name, tensor in batch.items() if name != "labels"}
        outputs: dict[int, ExitOutput] = self.engine.model.exit_outputs(**texts)
        return outputs


def observe(finished: Finished) -> dict[str, Any]:
    """Answers and geometry of every exit on the first validation set."""
    outputs, labels = finished.outputs()
    return {
        "labels": digits(labels),
        "answers": {
            str(layer): digits(output.logits.argmax(dim=1).cpu().numpy())
            for layer, output in outputs.items()
        },
        "geometry": {
            str(layer): shape(output, labels, last=outputs[max(outputs)].label_embeddings)
            for layer, output in outputs.items()
        },
    }


def course(run: RunFolder, stages: Iterable[str]) -> dict[str, Any]:
    """How training went: the average score after each epoch, and the share of open gates.

    Gates are counted in twentieths of a stage, all exits together.
    """
    epochs = (
        [json.loads(line) for line in run.metrics.read_text().splitlines()]
        if run.metrics.exists()
        else []
    )
    return {
        "epochs": [
            {"stage": line["stage"], "epoch": line["epoch"], **line["average"]} for line in epochs
        ],
        "open_gates": {
            stage: shares for stage in stages if (shares := open_shares(run.gates(stage)))
        },
    }


def open_shares(path: Path, parts: int = 20) -> list[float]:
    """The share of open gates in each part of a stage."""
    lines = path.read_text().splitlines() if path.exists() else []
    decisions = np.array([json.loads(line)["open"] for line in lines], dtype=float)
    return [round(float(part.mean()), 4) for part in np.array_split(decisions, parts) if len(part)]


def shape(
    output: ExitOutput, labels: np.ndarray, *, last: Float[Tensor, "k e"]
) -> dict[str, float | None]:
    """How an exit's embeddings lie: `Geometry`, and the mean cosine with the own label's.

    Once with the exit's own label embeddings, and once with those of the last exit, to which ACL-CL
    draws the samples of all exits; `None` where these are of another width.
    """
    everything = torch.from_numpy(labels).to(output.embedding.device)
    is_labelled = everything >= 0
    targets, samples = everything[is_labelled], output.embedding[is_labelled]
    found = {name: value.item() for name, value in geometry(samples, targets)._asdict().items()}
    for name, labels_of in (("own", output.label_embeddings), ("last", last)):
        found[f"{name}_label_similarity"] = (
            cosine_similarity(samples, labels_of[targets]).mean().item()
            if labels_of.shape[1] == samples.shape[1]
            else np.nan
        )
    return {name: None if np.isnan(value) else round(value, 5) for name, value in found.items()}


def angles(finished: Finished, num_batches: int) -> dict[str, Any]:
    """Degrees between the gradients of SCL and cross-entropy over all parameters (section 9.3).

    Training batches of the training's size, the model in evaluation mode, h of the last exit.
    """
    model = finished.engine.model
    encoded = encode_for(model, finished.engine.tokenizer, finished.splits.train)
    size = finished.recipe.training.micro_batch or batch_plan(len(encoded)).micro_batch
    order = LengthBucketSampler(encoded.lengths, batch_size=size, seed=finished.recipe.seed)
    parameters = [each for each in model.parameters() if each.requires_grad]
    found = []
    for batch, _ in zip(finished.batches(encoded, order, size), range(num_batches), strict=False):
        targets = batch.pop("labels")
        output = model.exit_outputs(**batch, layers=[model.num_layers])[model.num_layers]
        losses = (
            supervised_contrastive_loss(output.embedding, targets),
            cross_entropy(output.logits, targets),
        )
        first, second = (
            torch.autograd.grad(loss, parameters, retain_graph=True, allow_unused=True)
            for loss in losses
        )
        found.append(gradient_angle(first, second).item())
    defined = [round(angle, 3) for angle in found if not np.isnan(angle)]
    return {"angles": defined, "undefined": len(found) - len(defined), "batch": size}


def embeddings(finished: Finished, layer: int) -> dict[str, Any]:
    """Samples and label embeddings of an exit on the unit sphere, by t-SNE in two dimensions."""
    from sklearn.manifold import TSNE

    outputs, labels = finished.outputs()
    output = outputs[layer]
    points = unit(torch.cat([output.embedding, output.label_embeddings])).cpu().numpy()
    perplexity = min(30.0, (len(points) - 1) / 3)
    found = TSNE(perplexity=perplexity, random_state=finished.recipe.seed).fit_transform(points)
    return {
        "layer": layer,
        "labels": digits(labels),
        "samples": np.round(found[: len(labels)], 2).tolist(),
        "label_embeddings": np.round(found[len(labels) :], 2).tolist(),
    }


def unit(rows: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
    """Rows of length one."""
    return torch.nn.functional.normalize(rows.detach(), dim=1)


def digits(values: np.ndarray) -> str:
    """Small numbers as one text; an unlabelled row is a dot.

    >>> digits(np.array([0, 1, -1, 2]))
    '01.2'
    """
    return "".join("." if value < 0 else str(value) for value in values.tolist())
