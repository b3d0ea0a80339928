"""The eager engine: a trained classifier and its tokenizer, on any device that torch has."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from exitwise.data import EncodedTexts, PadBatch, Row, encode_texts, length_limit
from exitwise.encoders import layerwise
from exitwise.errors import ExitwiseError
from exitwise.modeling import MultiExitForSequenceClassification


class TorchEngine:
    """Answers texts with the logits of some exits.

    Args:
        model: put into evaluation mode; it stays on its device.
        tokenizer: that of its encoder.
        dtype: torch.bfloat16 or float16 run under autocast; float32 runs plain.
        max_length: longer texts are cut, at the latest where the encoder ends.
    """

    def __init__(
        self,
        model: MultiExitForSequenceClassification,
        tokenizer: PreTrainedTokenizerBase,
        *,
        dtype: torch.dtype = torch.float32,
        max_length: int = 128,
    ) -> None:
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.dtype = dtype
        self.max_length = min(max_length, length_limit(tokenizer, model.encoder.config))
        self._pad = PadBatch(tokenizer)

    @classmethod
    def from_pretrained(
        cls, name_or_path: str | Path, *, device: str | None = None
    ) -> "TorchEngine":
        """Loads a run, a model folder or a hub id, onto the GPU if there is one."""
        folder = model_folder(name_or_path)
        if Path(name_or_path).exists() and not (Path(folder) / "config.json").exists():
            raise ExitwiseError(f"{name_or_path} holds no model: there is no config.json in it")
        model = MultiExitForSequenceClassification.from_pretrained(folder)
        target = device or ("cuda" if torch.cuda.is_available() else "cpu")
        model.to(target)  # type: ignore[arg-type] # transformers wraps it
        return cls(model, AutoTokenizer.from_pretrained(folder))

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the classes, in their order."""
        return label_names(self.model)

    def logits(
        self,
        texts: Sequence[str],
        pairs: Sequence[str] | None = None,
        *,
        layers: Sequence[int] | None = None,
        batch_size: int = 64,
    ) -> Float[ndarray, "m n k"]:
        """The logits of the exits at `layers`, of all exits if `None`, in the order of the texts.

        The walk ends at the deepest layer asked for. Texts of similar length share a batch.
        """
        chosen = tuple(self.model.exit_layers if layers is None else layers)
        encoded = self.encode(texts, pairs)
        order = sorted(range(len(encoded)), key=encoded.lengths.__getitem__)
        found = np.zeros((len(chosen), len(order), self.model.config.num_labels), np.float32)
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            found[:, rows] = self._batch_logits([encoded[row] for row in rows], chosen)
        return found

    def encode(self, texts: Sequence[str], pairs: Sequence[str] | None) -> EncodedTexts:
        """Texts as the token ids that the encoder takes."""
        return encode_texts(
            self.tokenizer,
            texts,
            pairs,
            [0] * len(texts),
            max_length=self.max_length,
            input_names=layerwise(self.model.encoder).input_names,
        )

    @torch.inference_mode()
    def _batch_logits(self, rows: list[Row], layers: tuple[int, ...]) -> Float[ndarray, "m n k"]:
        device = self.model.device
        batch = {name: tensor.to(device) for name, tensor in self._pad(rows).items()}
        batch.pop("labels")
        with torch.autocast(device.type, dtype=self.dtype, enabled=self.dtype != torch.float32):
            outputs = self.model.exit_outputs(**batch, layers=layers)
        return torch.stack([outputs[layer].logits.float() for layer in layers]).cpu().numpy()


def label_names(model: MultiExitForSequenceClassification) -> tuple[str, ...]:
    """The names of a model's classes, in their order."""
    return tuple(name for _, name in sorted(dict(model.config.id2label or {}).items()))


def model_folder(name_or_path: str | Path) -> str:
    """The model in a run folder; any other folder or hub id is a model itself."""
    model = Path(name_or_path) / "model"
    return str(model if (model / "config.json").exists() else name_or_path)


def probabilities(logits: Float[ndarray, "*shape k"]) -> Float[ndarray, "*shape k"]:
    """Softmax over the labels.

    >>> probabilities(np.array([[0.0, 0.0]]))
    array([[0.5, 0.5]])
    """
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    result: ndarray = shifted / shifted.sum(axis=-1, keepdims=True)
    return result
