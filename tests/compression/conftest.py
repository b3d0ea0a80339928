"""A tiny classifier with an exit at its last layer alone, and ways to train it or not to."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from exitwise.compression import Batch, TrainerFit
from exitwise.data import EncodedTexts, LengthBucketSampler, PadBatch, batch_plan
from exitwise.exits import PoolerExitConfig
from exitwise.modeling import MultiExitForSequenceClassification
from exitwise.training import TrainingSettings

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
def fit(
    make_rows: Callable[..., EncodedTexts], tiny_tokenizer: PreTrainedTokenizerFast, tmp_path: Path
) -> TrainerFit:
    """Training on 24 rows, three batches of eight an epoch, in float32."""
    rows = make_rows(24)
    return TrainerFit(
        rows,
        PadBatch(tiny_tokenizer),
        LengthBucketSampler(rows.lengths, batch_size=8, seed=3),
        batch_plan(len(rows), micro_batch=8, accumulation=1),
        TrainingSettings(precision="fp32"),
        folder=tmp_path / "fit",
        seed=3,
    )


class Calls:
    """A `Fit` that trains nothing and keeps what it was asked for.

    Attributes:
        trainees: what would be trained.
        settings: how, each time.
        data: what it says the training data are.
    """

    updates_per_epoch = 1

    def __init__(self) -> None:
        self.trainees: list[Any] = []
        self.settings: list[dict[str, Any]] = []
        self.data: Iterable[Batch] = ()

    def __call__(self, trainee: Any, **settings: Any) -> None:
        self.trainees.append(trainee)
        self.settings.append(settings)

    def batches(self) -> Iterable[Batch]:
        return self.data


@pytest.fixture
def calls() -> Calls:
    """A `Fit` that keeps what would be trained, on no data unless it is given some."""
    return Calls()
