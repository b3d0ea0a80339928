"""A tiny multi-exit classifier and a Trainer around it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from exitwise.data import EncodedTexts, LengthBucketSampler, PadBatch, batch_plan
from exitwise.exits import MHAExitConfig
from exitwise.modeling import MultiExitForSequenceClassification
from exitwise.regimes import Stage
from exitwise.training import MultiExitTrainer, TrainingSettings, stage_arguments

MakeModel = Callable[..., MultiExitForSequenceClassification]
MakeTrainer = Callable[..., MultiExitTrainer]


@pytest.fixture
def make_model(tiny_encoder: Callable[..., PreTrainedModel]) -> MakeModel:
    """The same classifier at each call; `dropout` is that of encoder and exits."""

    def make(dropout: float = 0.0) -> MultiExitForSequenceClassification:
        encoder = tiny_encoder(
            "bert", hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout
        )
        torch.manual_seed(1)
        return MultiExitForSequenceClassification.around(
            encoder, labels=["bad", "good"], exit=MHAExitConfig(width=8, dropout=dropout)
        )

    return make


@pytest.fixture
def make_trainer(
    tmp_path: Path,
    tiny_tokenizer: PreTrainedTokenizerFast,
    make_rows: Callable[..., EncodedTexts],
) -> MakeTrainer:
    """A Trainer of a stage, in float32, that keeps no checkpoints unless told to."""

    def make(
        model: MultiExitForSequenceClassification,
        stage: Stage,
        *,
        rows: EncodedTexts | None = None,
        micro_batch: int = 8,
        accumulation: int = 1,
        folder: Path = tmp_path,
        arguments: dict[str, Any] | None = None,
        **settings: Any,
    ) -> MultiExitTrainer:
        rows = make_rows() if rows is None else rows
        plan = batch_plan(len(rows), micro_batch=micro_batch, accumulation=accumulation)
        args = stage_arguments(
            stage, TrainingSettings(precision="fp32"), plan, folder=folder, seed=3
        )
        for name, value in {
            "save_strategy": "no",
            "eval_strategy": "no",
            **(arguments or {}),
        }.items():
            setattr(args, name, value)
        return MultiExitTrainer(
            model,
            stage,
            args,
            train_dataset=rows,
            data_collator=PadBatch(tiny_tokenizer),
            sampler=LengthBucketSampler(rows.lengths, batch_size=micro_batch, seed=3),
            **settings,
        )

    return make


def weights(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """A copy of the state."""
    return {name: tensor.clone() for name, tensor in module.state_dict().items()}


def equal(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    """Whether two states have the same bits."""
    return first.keys() == second.keys() and all(
        torch.equal(first[name], second[name]) for name in first
    )
