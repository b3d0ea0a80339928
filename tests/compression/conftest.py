"""A tiny classifier with an exit at its last layer alone, and training on a few labelled rows."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from exitwise.compression import TrainerFit
from exitwise.data import LengthBucketSampler, PadBatch, batch_plan, encode_texts
from exitwise.exits import PoolerExitConfig
from exitwise.modeling import MultiExitForSequenceClassification
from exitwise.training import TrainingSettings

TEXTS = (
    ("the film was not good", 0),
    ("a very bad plot", 0),
    ("dull and long and cold", 0),
    ("it never begins", 0),
    ("the story was great , the actor was good", 1),
    ("a good film", 1),
    ("great movie !", 1),
    ("this plot is very good", 1),
)

MakeModel = Callable[..., MultiExitForSequenceClassification]


@pytest.fixture
def make_model(tiny_encoder: Callable[..., PreTrainedModel]) -> MakeModel:
    """A factory: type, depth and changes of the encoder → the same classifier at each call.

    It is in evaluation mode and has no dropout.
    """

    def make(
        model_type: str = "bert", num_layers: int = 4, **changes: Any
    ) -> MultiExitForSequenceClassification:
        quiet = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
        if model_type == "distilbert":
            quiet = {"dropout": 0.0, "attention_dropout": 0.0}
        encoder = tiny_encoder(model_type, num_hidden_layers=num_layers, **quiet, **changes)
        with torch.random.fork_rng():
            torch.manual_seed(1)
            return MultiExitForSequenceClassification.around(
                encoder,
                labels=("bad", "good"),
                exit=PoolerExitConfig(dropout=0.0),
                exit_layers=[num_layers],
            )

    return make


@pytest.fixture
def fit(tiny_tokenizer: PreTrainedTokenizerFast, tmp_path: Path) -> TrainerFit:
    """Training on 24 rows, three batches of eight an epoch, in float32."""
    rows = [TEXTS[index % len(TEXTS)] for index in range(24)]
    encoded = encode_texts(
        tiny_tokenizer,
        [text for text, _ in rows],
        None,
        [label for _, label in rows],
        max_length=16,
        input_names=("input_ids", "attention_mask", "token_type_ids"),
    )
    return TrainerFit(
        encoded,
        PadBatch(tiny_tokenizer),
        LengthBucketSampler(encoded.lengths, batch_size=8, seed=3),
        batch_plan(len(encoded), micro_batch=8, accumulation=1),
        TrainingSettings(precision="fp32"),
        folder=tmp_path / "fit",
        seed=3,
    )
