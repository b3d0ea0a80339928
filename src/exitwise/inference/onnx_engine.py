"""The deployed engine: one static graph a segment; numpy, tokenizers and onnxruntime only."""

import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime
from jaxtyping import Float
from numpy import ndarray
from tokenizers import Tokenizer

from exitwise.errors import ExitwiseError
from exitwise.inference.engine import Engine
from exitwise.inference.manifest import FILE, Manifest, read_manifest
from exitwise.inference.tokens import Encoded, TextTokens

SLOWER_ON_CPU = ["SkipLayerNormFusion"]
"""Of ONNX Runtime's optimisations: a sum fused with its norm takes two to five times as long."""

PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}


Between = dict[str, ndarray]
"""A batch between two exits: what the next segment takes, by name; with `attention_mask` [n, l]."""


class OnnxEngine(Engine[Between]):
    """Runs what `exitwise export --format onnx` wrote.

    Args:
        folder: the exported folder; its files are checked first.
        device: "cpu" or "cuda".
        num_threads: of a segment; as many as ONNX Runtime thinks right if `None`.

    Raises:
        ExitwiseError: something in the folder is missing or was changed, or this ONNX Runtime
            cannot use the device.
    """

    def __init__(
        self, folder: Path, *, device: str = "cpu", num_threads: int | None = None
    ) -> None:
        if num_threads is not None and num_threads < 1:
            raise ExitwiseError(f"num_threads must be at least 1, found {num_threads}")
        self.folder = folder
        self.manifest = read_manifest(folder)
        self.labels = self.manifest.labels
        self.exit_layers = self.manifest.exit_layers
        self.dtype_name = self.manifest.dtype
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        check_length(self.manifest, tokenizer, folder / FILE)
        self.tokens = TextTokens(
            tokenizer,
            max_length=self.manifest.max_length,
            has_types="token_type_ids" in self.manifest.input_names,
            pad_id=self.manifest.pad_id,
            pad_type_id=self.manifest.pad_type_id,
            takes_pairs=self.manifest.takes_pairs,
        )
        options, providers = session_options(num_threads), [provider(device)]
        disabled = SLOWER_ON_CPU if device == "cpu" else []
        self._sessions = [
            onnxruntime.InferenceSession(
                folder / name, options, providers=providers, disabled_optimizers=disabled
            )
            for name in self.manifest.segments
        ]
        check_graphs(self.manifest, self._sessions, folder / FILE)

    def start(self, encoded: Encoded) -> Between:
        """The tokens, padded on the right."""
        return dict(self.tokens.padded(encoded))

    def run(self, state: Between, *, after: int, to: int) -> tuple[Between, Float[ndarray, "n k"]]:
        """The segments between the two exits, one by one; after the last there are no states."""
        logits = None
        for session in self._sessions[self._between(after, to)]:
            *hidden, logits = session.run(None, state)
            state = {"attention_mask": state["attention_mask"]}
            if hidden:
                state["hidden"] = hidden[0]
        assert logits is not None
        return state, logits

    def keep(self, state: Between, rows: npt.NDArray[np.int64]) -> Between:
        """The rows, without the columns that none of them needs."""
        length = int(state["attention_mask"][rows].sum(axis=1).max())
        return {name: array[rows, :length] for name, array in state.items()}

    def join(self, states: Sequence[Between]) -> Between:
        """The batches padded to the longest, on the right."""
        length = max(state["attention_mask"].shape[1] for state in states)
        return {
            name: np.concatenate([widened(state[name], length) for state in states])
            for name in states[0]
        }

    def size(self, state: Between) -> tuple[int, int]:
        """Those of the attention mask."""
        rows, length = state["attention_mask"].shape
        return rows, length

    def macs(self, *, after: int, to: int, length: int) -> int:
        """The segments' and those of all exits on the way: a static graph leaves none out."""
        segments = self.manifest.macs[self._between(after, to)]
        return sum(
            of_one + of_length * length + of_square * length**2
            for segment in segments
            for of_one, of_length, of_square in segment.values()
        )

    def _between(self, after: int, to: int) -> slice:
        first = 0 if after == 0 else self.exit_layers.index(after) + 1
        return slice(first, self.exit_layers.index(to) + 1)

    def save_pretrained(self, folder: Path) -> None:
        """Copies the exported folder as it is now: it may have been calibrated since."""
        if folder.resolve() == self.folder.resolve():
            return
        folder.mkdir(parents=True, exist_ok=True)
        for name in (*read_manifest(self.folder).sha256, FILE):
            shutil.copyfile(self.folder / name, folder / name)


def check_length(manifest: Manifest, tokenizer: Tokenizer, path: Path) -> None:
    """Whether texts are cut where the exported tokenizer cuts them, or before.

    Raises:
        ExitwiseError: they would be longer than the encoder can take.
    """
    most = (tokenizer.truncation or {}).get("max_length", manifest.max_length)
    if not 1 <= manifest.max_length <= most:
        raise ExitwiseError(
            f"{path}: max_length must be from 1 to {most}, found {manifest.max_length}: "
            "export the run again"
        )


def check_graphs(manifest: Manifest, sessions: Sequence[Any], path: Path) -> None:
    """Whether the graphs take and give what the manifest says.

    Raises:
        ExitwiseError: they do not.
    """
    taken = sorted(each.name for each in sessions[0].get_inputs())
    if taken != sorted(manifest.input_names):
        raise ExitwiseError(
            f"{path}: input_names must be {', '.join(taken)}, "
            f"found {', '.join(manifest.input_names)}: export the run again"
        )
    for session in sessions:
        classes = session.get_outputs()[-1].shape[-1]
        if classes != len(manifest.labels):
            raise ExitwiseError(
                f"{path} has {len(manifest.labels)} labels for {classes} classes: "
                "export the run again"
            )


def widened(array: ndarray, length: int) -> ndarray:
    """Columns of zeros on the right, up to a length."""
    missing = length - array.shape[1]
    if not missing:
        return array
    return np.pad(array, [(0, 0), (0, missing), *[(0, 0)] * (array.ndim - 2)])


def session_options(num_threads: int | None) -> Any:  # noqa: ANN401 - onnxruntime has no types
    """How each segment's session runs."""
    share_memory()
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.use_env_allocators", "1")
    # Threads that wait for the next operator spin, which is fast; those that wait for the next run
    # must not: they would slow the other segments' sessions.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    if num_threads is not None:
        options.intra_op_num_threads = num_threads
    options.log_severity_level = 3
    return options


@cache
def share_memory() -> None:
    """One arena for the states of all sessions, which each segment then finds in the cache.

    With an arena each, six segments take 4 % longer.
    """
    kind, place = onnxruntime.OrtAllocatorType.ORT_ARENA_ALLOCATOR, onnxruntime.OrtMemType.DEFAULT
    memory = onnxruntime.OrtMemoryInfo("Cpu", kind, 0, place)
    onnxruntime.create_and_register_allocator(memory, None)


def provider(device: str) -> str:
    """The name by which ONNX Runtime knows a device.

    Raises:
        ExitwiseError: it is not built for it.
    """
    if device not in PROVIDERS:
        raise ExitwiseError(f"device must be one of {', '.join(PROVIDERS)}, found {device!r}")
    if PROVIDERS[device] not in onnxruntime.get_available_providers():
        raise ExitwiseError(
            f"this onnxruntime has no {PROVIDERS[device]}: install onnxruntime-gpu, or use the CPU"
        )
    return PROVIDERS[device]
