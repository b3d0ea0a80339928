"""A trained model, to look into."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int
from numpy import ndarray
from torch import Tensor

from exitwise.data import EncodedTexts, PadBatch, Splits, TextDataset, load_splits
from exitwise.experiments.answers import Answered
from exitwise.inference.torch_engine import TorchEngine
from exitwise.losses import compared_rows
from exitwise.outputs import ExitOutput
from exitwise.recipe import Recipe
from exitwise.run.material import encode_for
from exitwise.training import dtype_of

EVALUATION_ROWS = 64
Batch = tuple[dict[str, Tensor], Int[Tensor, " n"]]


@dataclass(frozen=True)
class Finished:
    """A trained model with the data that it was trained on."""

    recipe: Recipe
    engine: TorchEngine
    splits: Splits

    @classmethod
    def load(cls, recipe: Recipe, folder: str) -> "Finished":
        """From the run folder of a recipe; it answers in the precision that its scores are of."""
        dtype = dtype_of(recipe.training.precision)
        splits = load_splits(recipe.data, seed=recipe.seed)
        return cls(recipe, TorchEngine.from_pretrained(folder, dtype=dtype), splits)

    def answered(self) -> dict[str, Answered]:
        """What all exits answer on every validation set, in the order of its rows."""
        return {
            name: Answered(np.asarray(texts.labels), self._answers(texts))
            for name, texts in self.splits.validation.items()
        }

    def compared(self) -> tuple[dict[int, ExitOutput], Int[Tensor, " n"]]:
        """All exits on the `compared_rows` of the first validation set, and their labels.

        Their seed is the function's own, not the recipe's: all systems are seen on the same rows.
        """
        texts = next(iter(self.splits.validation.values()))
        rows = compared_rows(torch.tensor(texts.labels)).tolist()
        encoded = self.encoded(texts.select(rows, note="compared"))
        parts = [self._outputs(padded) for padded, _ in self.batches(encoded, range(len(encoded)))]
        joined = {
            layer: ExitOutput(
                logits=torch.cat([part[layer].logits for part in parts]).float(),
                embedding=torch.cat([part[layer].embedding for part in parts]).float(),
                label_embeddings=parts[0][layer].label_embeddings.float(),
            )
            for layer in parts[0]
        }
        return joined, torch.tensor(texts.labels)[rows].to(self.engine.model.device)

    def encoded(self, texts: TextDataset) -> EncodedTexts:
        """Texts as the model's token ids."""
        return encode_for(self.engine.model, self.engine.tokenizer, texts)

    def batches(
        self, encoded: EncodedTexts, order: Iterable[int], rows: int = EVALUATION_ROWS
    ) -> Iterator[Batch]:
        """Rows in an order, padded, and their labels."""
        pad = PadBatch(self.engine.tokenizer)
        indices = list(order)
        for start in range(0, len(indices), rows):
            batch = pad([encoded[index] for index in indices[start : start + rows]])
            texts = {name: each.to(self.engine.model.device) for name, each in batch.items()}
            labels = texts.pop("labels")
            yield texts, labels

    def _answers(self, texts: TextDataset) -> dict[str, Int[ndarray, " n"]]:
        """By the very engine that scores a run."""
        logits = self.engine.logits(texts.texts, texts.pairs)
        layers = map(str, self.engine.exit_layers)
        return dict(zip(layers, logits.argmax(axis=-1), strict=True))

    @torch.no_grad()
    def _outputs(self, texts: Mapping[str, Tensor]) -> dict[int, ExitOutput]:
        with self.engine.autocast():
            outputs: dict[int, ExitOutput] = self.engine.model.exit_outputs(**texts)
        return outputs
