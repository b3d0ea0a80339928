"""Exits on a classifier that is trained already."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    PreTrainedConfig,
    PreTrainedModel,
)

from exitwise.encoders import check_complete, load_weights
from exitwise.errors import UnsupportedError
from exitwise.exits import ExitConfig, MHAExitConfig
from exitwise.modeling.classifier_heads import check_head_is_known, pooler_exit
from exitwise.modeling.config import MultiExitConfig, label_names
from exitwise.modeling.model import MultiExitForSequenceClassification


def from_classifier(
    name_or_path: str | Path,
    *,
    exit: ExitConfig = MHAExitConfig(),  # noqa: B008 - frozen
    exit_layers: Sequence[int] | None = None,
) -> MultiExitForSequenceClassification:
    """A trained classifier that keeps its answers at the last layer and gets exits below it.

    Encoder, labels and the last exit are those of the classifier: one of ours, or a stock one of
    the library, whose head is copied as a `PoolerExit`. The other exits are fresh.

    Args:
        name_or_path: a folder or hub id of a classifier.
        exit: kind and settings of the fresh exits.
        exit_layers: the layers that get one, all by default.

    Raises:
        UnsupportedError: the classifier is not one with a label per text and a head that can
            become an exit; said before its weights are loaded wherever its type tells.
    """
    config = AutoConfig.from_pretrained(name_or_path)
    trained = (
        MultiExitForSequenceClassification.from_pretrained(name_or_path, dtype="float32")
        if isinstance(config, MultiExitConfig)
        else _stock(name_or_path, config)
    )
    last = trained.num_layers
    model = MultiExitForSequenceClassification.around(
        trained.encoder,
        labels=trained.config.label_names,
        exit=exit,
        last_exit=trained.exit(last).config,
        exit_layers=exit_layers,
    )
    model.exits[str(last)] = trained.exit(last)
    return model


def _stock(
    name_or_path: str | Path, config: PreTrainedConfig
) -> MultiExitForSequenceClassification:
    """A classifier of the library as one of ours, with its head as the only exit."""
    check_head_is_known(config.model_type)
    _check_task(name_or_path, config)
    stock, missing = load_weights(
        AutoModelForSequenceClassification.from_pretrained, name_or_path, config
    )
    check_complete(name_or_path, missing)
    probe = _probe(stock)
    expected = _logits(stock.eval(), probe)
    model = _with_its_head_as_exit(stock)
    found = _logits(model, probe)
    if not torch.allclose(found, expected, rtol=1e-5, atol=1e-5):
        raise UnsupportedError(
            f"the head of {type(stock).__name__} does not do what a pooler exit does: its logits "
            f"differ by up to {(found - expected).abs().max():.2g}"
        )
    return model


def _with_its_head_as_exit(stock: PreTrainedModel) -> MultiExitForSequenceClassification:
    last = pooler_exit(stock).eval()
    encoder = stock.base_model
    assert isinstance(encoder, PreTrainedModel)
    model = MultiExitForSequenceClassification.around(
        encoder,
        labels=label_names(stock.config),
        exit=last.config,
        exit_layers=[stock.config.num_hidden_layers],
    )
    model.exits[str(model.num_layers)] = last
    return model


@torch.no_grad()
def _logits(model: PreTrainedModel, inputs: dict[str, Tensor]) -> Tensor:
    logits: Tensor = model(**inputs).logits
    return logits


def _check_task(name_or_path: str | Path, config: PreTrainedConfig) -> None:
    task = config.problem_type or (
        "regression" if config.num_labels == 1 else "single_label_classification"
    )
    if task != "single_label_classification":
        raise UnsupportedError(
            f"{name_or_path} was trained for {task.replace('_', ' ')}; exits are for classifiers "
            "that give each text one of at least two labels"
        )


def _probe(stock: PreTrainedModel) -> dict[str, Tensor]:
    """Random texts, some of them padded; torch's global generator is left alone."""
    generator = torch.Generator().manual_seed(0)
    vocabulary, padding = stock.config.vocab_size, stock.config.pad_token_id or 0
    tokens = torch.randint(vocabulary, (8, 12), generator=generator)
    tokens[tokens == padding] = (padding + 1) % vocabulary
    mask = (torch.arange(12) < torch.randint(2, 13, (8, 1), generator=generator)).long()
    return {"input_ids": tokens.where(mask.bool(), padding), "attention_mask": mask}
