"""The eager engine: a trained classifier and its tokenizer, on any device that torch has."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Float
from numpy import ndarray
from torch.nn.functional import pad
from transformers import AutoConfig, AutoTokenizer, PreTrainedTokenizerBase

from exitwise.data import length_limit
from exitwise.encoders import LayerState, layerwise
from exitwise.errors import ExitwiseError, UnsupportedError
from exitwise.inference.engine import Engine
from exitwise.inference.tokens import Encoded, TextTokens
from exitwise.modeling import MultiExitConfig, MultiExitForSequenceClassification
from exitwise.modeling.classifiers import from_classifier

State = LayerState[Any]


class TorchEngine(Engine[State]):
    """Answers texts with the logits of some exits.

    Args:
        model: put into evaluation mode; it stays on its device.
        tokenizer: that of its encoder.
        dtype: torch.bfloat16 or float16 run under autocast; float32 runs plain.
        max_length: longer texts are cut; by default, and at the latest, where the tokenizer says
            or the encoder ends.
    """

    def __init__(
        self,
        model: MultiExitForSequenceClassification,
        tokenizer: PreTrainedTokenizerBase,
        *,
        dtype: torch.dtype = torch.float32,
        max_length: int | None = None,
    ) -> None:
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.dtype = dtype
        self.dtype_name = str(dtype).removeprefix("torch.")
        self.labels = label_names(model)
        self.exit_layers = model.exit_layers
        self._walk = layerwise(model.encoder)
        limit = length_limit(tokenizer, model.encoder.config)
        self.tokens = text_tokens(
            tokenizer,
            max_length=limit if max_length is None else min(max_length, limit),
            input_names=self._walk.input_names,
            takes_pairs=model.config.takes_pairs,
        )

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: str | Path,
        *,
        device: str | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> "TorchEngine":
        """Loads a run, a model folder or a hub id, onto the GPU if there is one.

        A stock classifier of transformers is a model with one exit, after its last layer. The
        weights stay in float32; `dtype` is that of the arithmetic.

        Raises:
            ExitwiseError: there is no model, or not the device that was asked for.
        """
        if device not in (None, "cpu") and not torch.cuda.is_available():
            raise ExitwiseError(f"PyTorch finds no GPU here, so the device cannot be {device!r}")
        folder = model_folder(name_or_path)
        if Path(name_or_path).exists() and not (Path(folder) / "config.json").exists():
            raise ExitwiseError(f"{name_or_path} holds no model: there is no config.json in it")
        model = load_model(folder)
        target = device or ("cuda" if torch.cuda.is_available() else "cpu")
        model.to(target)  # type: ignore[arg-type] # transformers wraps it
        return cls(model, AutoTokenizer.from_pretrained(folder), dtype=dtype)

    @torch.inference_mode()
    def start(self, encoded: Encoded) -> State:
        """The embeddings of the tokens."""
        device = self.model.device
        padded = self.tokens.padded(encoded)
        batch = {name: torch.from_numpy(ids).to(device) for name, ids in padded.items()}
        with self.autocast():
            return self._walk.embed(**batch)

    @torch.inference_mode()
    def run(self, state: State, *, after: int, to: int) -> tuple[State, Float[ndarray, "n k"]]:
        """The layers one by one; the logits are waited for."""
        with self.autocast():
            for layer in range(after + 1, to + 1):
                state = self._walk.run_layer(layer, state)
            output = self.model.exit(to)(state.hidden, state.attention_mask)
        return state, output.logits.float().cpu().numpy()

    @torch.inference_mode()
    def keep(self, state: State, rows: npt.NDArray[np.int64]) -> State:
        """The rows, gathered on the device."""
        return self._walk.keep_rows(state, torch.from_numpy(rows).to(state.hidden.device))

    @torch.inference_mode()
    def join(self, states: Sequence[State]) -> State:
        """The states padded to the longest, on the right."""
        length = max(state.attention_mask.shape[1] for state in states)
        missing = [length - state.attention_mask.shape[1] for state in states]
        pairs = list(zip(states, missing, strict=True))
        hidden = torch.cat([pad(state.hidden, (0, 0, 0, columns)) for state, columns in pairs])
        mask = torch.cat([pad(state.attention_mask, (0, columns)) for state, columns in pairs])
        return self._walk.resume(hidden, mask)

    def size(self, state: State) -> tuple[int, int]:
        """Those of the hidden states."""
        rows, length = state.hidden.shape[:2]
        return rows, length

    def macs(self, *, after: int, to: int, length: int) -> int:
        """The layers' and that of the exit at `to`; no other exit is asked."""
        layers = [self._walk.layer_macs(length, layer) for layer in range(after + 1, to + 1)]
        exit: int = self.model.exit(to).macs(length)
        return sum(layers) + exit

    def autocast(self) -> torch.autocast:
        """In which the engine's arithmetic runs."""
        kind = self.model.device.type
        return torch.autocast(kind, dtype=self.dtype, enabled=self.dtype != torch.float32)

    def save_pretrained(self, folder: Path) -> None:
        """As `exitwise train` leaves them in a run's `model/`."""
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)


def load_model(folder: str) -> MultiExitForSequenceClassification:
    """Ours, or a stock classifier as one of ours.

    Raises:
        UnsupportedError: a stock classifier has a head that is no exit of ours.
    """
    config = AutoConfig.from_pretrained(folder)
    if isinstance(config, MultiExitConfig):
        return MultiExitForSequenceClassification.from_pretrained(folder)
    return from_classifier(folder, exit_layers=[config.num_hidden_layers])


def text_tokens(
    tokenizer: PreTrainedTokenizerBase,
    *,
    max_length: int,
    input_names: Sequence[str],
    takes_pairs: bool | None = None,
) -> TextTokens:
    """The part of a tokenizer of transformers that needs no transformers.

    Raises:
        UnsupportedError: the tokenizer is written in Python.
    """
    if not tokenizer.is_fast:
        raise UnsupportedError(
            f"{type(tokenizer).__name__} is written in Python; "
            "exitwise needs a tokenizer of the tokenizers library, with a tokenizer.json"
        )
    backend: Any = tokenizer  # the type of slow tokenizers has no backend
    return TextTokens(
        backend.backend_tokenizer,
        max_length=max_length,
        has_types={"token_type_ids"} <= {*input_names} & {*tokenizer.model_input_names},
        pad_id=int(tokenizer.pad_token_id or 0),
        pad_type_id=int(tokenizer.pad_token_type_id),
        takes_pairs=takes_pairs,
    )


def label_names(model: MultiExitForSequenceClassification) -> tuple[str, ...]:
    """The names of a model's classes, in their order."""
    return tuple(name for _, name in sorted(dict(model.config.id2label or {}).items()))


def model_folder(name_or_path: str | Path) -> str:
    """The model in a run folder; any other folder or hub id is a model itself."""
    model = Path(name_or_path) / "model"
    return str(model if (model / "config.json").exists() else name_or_path)
