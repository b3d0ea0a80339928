"""A tiny classifier whose exits disagree, texts for it, and an engine of stored logits."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from exitwise.inference import Encoded, Engine, TextTokens
from exitwise.inference.torch_engine import TorchEngine
from exitwise.modeling import MultiExitForSequenceClassification

LABELS = ("bad", "fine", "good")


@pytest.fixture
def make_engine(
    tiny_encoder: Callable[..., PreTrainedModel], tiny_tokenizer: PreTrainedTokenizerFast
) -> Callable[..., TorchEngine]:
    """A factory: type of encoder → an engine of float64 whose exits are wide apart."""

    def make(model_type: str = "bert", **settings: object) -> TorchEngine:
        encoder = tiny_encoder(model_type)
        model = MultiExitForSequenceClassification.around(encoder, labels=LABELS, **settings)
        with torch.no_grad():
            for layer in model.exit_layers:
                for parameter in model.exit(layer).parameters():
                    parameter.add_(torch.randn_like(parameter))
        return TorchEngine(model.double(), tiny_tokenizer)

    return make


@pytest.fixture
def texts() -> list[str]:
    """Forty texts of 0 … 20 words."""
    words = "film was not very good bad great dull warm cold long short never".split()  # noqa: SIM905
    generator = random.Random(0)
    return [" ".join(generator.choices(words, k=generator.randint(0, 20))) for _ in range(39)] + [
        ""
    ]


class Rows(NamedTuple):
    """Where the batches of a `StoredEngine` stand."""

    rows: np.ndarray


class StoredEngine(Engine[Rows]):
    """Says what it was given; text i is `str(i)`. Notes which rows run to which layer."""

    def __init__(self, tokens: TextTokens, logits: np.ndarray, layers: Sequence[int]) -> None:
        self.tokens = tokens
        self.labels = tuple(map(str, range(logits.shape[-1])))
        self.exit_layers = tuple(layers)
        self.stored = logits
        self.runs: list[tuple[int, list[int]]] = []

    def windows(self, texts, pairs):  # noqa: ANN001, ANN201
        ids = [np.full(1 + int(text) % 3, int(text)) for text in texts]
        yield 0, Encoded(ids, None)

    def start(self, encoded: Encoded) -> Rows:
        return Rows(np.array([ids[0] for ids in encoded.input_ids]))

    def run(self, state: Rows, *, after: int, to: int) -> tuple[Rows, np.ndarray]:
        assert after < to
        self.runs.append((to, state.rows.tolist()))
        return state, self.stored[self.exit_layers.index(to), state.rows]

    def keep(self, state: Rows, rows: np.ndarray) -> Rows:
        assert len(rows) > 0
        return Rows(state.rows[rows])

    def join(self, states: Sequence[Rows]) -> Rows:
        assert len(states) > 1
        return Rows(np.concatenate([state.rows for state in states]))

    def size(self, state: Rows) -> tuple[int, int]:
        return len(state.rows), 1

    def macs(self, *, after: int, to: int, length: int) -> int:
        return (to - after) * length

    def save_pretrained(self, folder: Path) -> None:
        raise NotImplementedError


@pytest.fixture
def stored(tiny_tokenizer: PreTrainedTokenizerFast) -> Callable[..., StoredEngine]:
    """A factory: logits [m, n, k] and layers → an engine that says them."""

    def make(logits: np.ndarray, layers: Sequence[int]) -> StoredEngine:
        backend = tiny_tokenizer.backend_tokenizer
        tokens = TextTokens(backend, max_length=8, has_types=False, pad_id=0)
        return StoredEngine(tokens, logits, layers)

    return make
