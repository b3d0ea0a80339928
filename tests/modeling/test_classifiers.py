"""Exits on classifiers that are trained already: stock ones of the library, and our own."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import (
    AutoModelForSequenceClassification,
    BertConfig,
    BertForMaskedLM,
    PreTrainedModel,
)

from exitwise.errors import UnsupportedError
from exitwise.exits import LinearExit, LinearExitConfig, MHAExit, PoolerExit
from exitwise.modeling import from_classifier
from exitwise.modeling.classifier_heads import HEADS

ACTIVATIONS = {"distilbert": "relu", "electra": "gelu", "deberta-v2": "gelu"}  # else tanh
LABELS = {0: "bad", 1: "so so", 2: "good"}


@pytest.fixture
def stock(
    tiny_encoder: Callable[..., PreTrainedModel],
) -> Callable[..., PreTrainedModel]:
    """A factory: type of model and changes of its configuration → a stock classifier."""

    def make(model_type: str, **changes: Any) -> PreTrainedModel:
        config = tiny_encoder(model_type).config
        config.id2label = LABELS
        for name, value in changes.items():
            setattr(config, name, value)
        model = AutoModelForSequenceClassification.from_config(config)
        for parameter in model.parameters():
            nn.init.normal_(parameter, std=0.3)  # biases and norms too: nothing may be left out
        return model.eval()

    return make


@pytest.mark.parametrize("model_type", HEADS)
def test_the_head_of_a_stock_classifier_becomes_the_last_exit(
    model_type: str, stock: Callable[..., PreTrainedModel], batch: dict[str, Tensor], tmp_path: Path
) -> None:
    model = stock(model_type)
    batch["input_ids"] = batch["input_ids"].where(
        batch["attention_mask"].bool(), model.config.pad_token_id or 0
    )
    expected = model(**batch).logits
    model.save_pretrained(tmp_path)
    found = from_classifier(tmp_path)
    torch.testing.assert_close(found(**batch).logits, expected, rtol=1e-5, atol=1e-5)
    last = found.exit(3)
    assert isinstance(last, PoolerExit)
    assert last.config.activation == ACTIVATIONS.get(model_type, "tanh")
    assert found.config.label_names == tuple(LABELS.values())


def test_the_other_exits_are_fresh_and_of_the_kind_asked_for(
    stock: Callable[..., PreTrainedModel], tmp_path: Path
) -> None:
    stock("bert").save_pretrained(tmp_path)
    assert [type(each) for each in from_classifier(tmp_path).exits.values()] == [
        MHAExit,
        MHAExit,
        PoolerExit,
    ]
    found = from_classifier(tmp_path, exit=LinearExitConfig(), exit_layers=[2])
    assert found.exit_layers == (2, 3)
    assert isinstance(found.exit(2), LinearExit)
    assert found.exit(2).classifier.weight.std() < 0.1


def test_the_copied_exit_keeps_the_dropout_of_the_classifier(
    stock: Callable[..., PreTrainedModel], tmp_path: Path
) -> None:
    stock("bert", classifier_dropout=0.25).save_pretrained(tmp_path)
    assert from_classifier(tmp_path).exit(3).dropout.p == 0.25


def test_what_comes_of_it_can_be_saved_and_taken_up_again(
    stock: Callable[..., PreTrainedModel], batch: dict[str, Tensor], tmp_path: Path
) -> None:
    stock("bert").save_pretrained(tmp_path / "stock")
    first = from_classifier(tmp_path / "stock")
    first.save_pretrained(tmp_path / "ours")
    second = from_classifier(tmp_path / "ours", exit=LinearExitConfig())
    expected, found = first.exit_outputs(**batch), second.exit_outputs(**batch)
    torch.testing.assert_close(found[3], expected[3], rtol=0, atol=0)
    assert isinstance(second.exit(1), LinearExit)
    torch.testing.assert_close(
        second.encoder.state_dict(), first.encoder.state_dict(), rtol=0, atol=0
    )


def test_a_seed_gives_the_same_fresh_exits(
    stock: Callable[..., PreTrainedModel], tmp_path: Path
) -> None:
    stock("bert").save_pretrained(tmp_path)
    states = []
    for _ in range(2):
        torch.manual_seed(3)
        states.append(from_classifier(tmp_path).state_dict())
    torch.testing.assert_close(*states, rtol=0, atol=0)


def test_modernbert_is_refused_by_name_before_its_weights_are_read(
    stock: Callable[..., PreTrainedModel], tmp_path: Path
) -> None:
    stock("modernbert").config.save_pretrained(tmp_path)
    with pytest.raises(UnsupportedError, match="of type 'modernbert' cannot become an exit"):
        from_classifier(tmp_path)


@pytest.mark.parametrize(
    ("changes", "task"),
    [
        ({"num_labels": 1}, "regression"),
        ({"problem_type": "regression"}, "regression"),
        ({"problem_type": "multi_label_classification"}, "multi label classification"),
    ],
)
@pytest.mark.field_case(57)
def test_another_task_is_refused_by_name_before_the_weights_are_read(
    changes: dict[str, Any], task: str, tmp_path: Path
) -> None:
    BertConfig(**changes).save_pretrained(tmp_path)
    with pytest.raises(UnsupportedError, match=f"was trained for {task}"):
        from_classifier(tmp_path)


def test_a_model_without_a_trained_head_is_refused(
    tiny_encoder: Callable[..., PreTrainedModel], tmp_path: Path
) -> None:
    BertForMaskedLM(tiny_encoder("bert").config).save_pretrained(tmp_path)
    with pytest.raises(UnsupportedError, match=r"lacks 4 .* bert\.pooler\.dense\.bias for one"):
        from_classifier(tmp_path)


def test_an_activation_that_no_exit_has_is_refused_with_the_name_of_the_class(
    stock: Callable[..., PreTrainedModel], tmp_path: Path
) -> None:
    stock("deberta-v2", pooler_hidden_act="silu").save_pretrained(tmp_path)
    message = "the head of DebertaV2ForSequenceClassification has the activation 'silu'"
    with pytest.raises(UnsupportedError, match=message):
        from_classifier(tmp_path)


def test_a_head_that_answers_otherwise_than_its_copy_is_refused(
    stock: Callable[..., PreTrainedModel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stock("electra").save_pretrained(tmp_path)
    monkeypatch.setitem(HEADS, "electra", HEADS["roberta"])  # as if somebody had it wrong: tanh
    with pytest.raises(UnsupportedError, match="the head of ElectraForSequenceClassification does"):
        from_classifier(tmp_path)
