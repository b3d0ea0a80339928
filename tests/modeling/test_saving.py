"""What is written, what comes back, and what is said on the way."""

import copy
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    BertForMaskedLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    pipeline,
)

from exitwise.encoders import FAMILIES
from exitwise.errors import UnsupportedError
from exitwise.exits import LinearExitConfig, PoolerExitConfig
from exitwise.modeling import MultiExitConfig, MultiExitForSequenceClassification

Make = Callable[..., MultiExitForSequenceClassification]


class Records(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


@pytest.fixture
def said() -> Iterator[list[str]]:
    """What transformers warns of, or worse."""
    handler, logger = Records(), logging.getLogger("transformers")
    handler.setLevel(logging.WARNING)
    logger.addHandler(handler)
    yield handler.messages
    logger.removeHandler(handler)


@pytest.mark.parametrize("model_type", FAMILIES)
@pytest.mark.field_case(68)
def test_a_saved_model_comes_back_to_the_bit_and_without_a_warning(
    model_type: str, tiny_model: Make, batch: dict[str, Tensor], said: list[str], tmp_path: Path
) -> None:
    model = tiny_model(model_type, last_exit=PoolerExitConfig(), exit_layers=[1])
    model.save_pretrained(tmp_path)
    found = MultiExitForSequenceClassification.from_pretrained(tmp_path)
    assert said == []
    torch.testing.assert_close(found.state_dict(), model.state_dict(), rtol=0, atol=0)
    assert found.exit_layers == (1, 3)
    assert found.exit(3).config == PoolerExitConfig()
    for layer, output in found.exit_outputs(**batch).items():
        expected = model.exit_outputs(**batch)[layer]
        torch.testing.assert_close(output, expected, rtol=0, atol=0)


@pytest.mark.field_case(71)
def test_the_auto_classes_and_pipelines_load_it(
    tiny_model: Make, tiny_tokenizer: PreTrainedTokenizerFast, said: list[str], tmp_path: Path
) -> None:
    model = tiny_model()
    model.save_pretrained(tmp_path)
    tiny_tokenizer.save_pretrained(tmp_path)
    assert isinstance(AutoConfig.from_pretrained(tmp_path), MultiExitConfig)
    found = AutoModelForSequenceClassification.from_pretrained(tmp_path)
    assert isinstance(found, MultiExitForSequenceClassification)
    classify = pipeline("text-classification", model=str(tmp_path), device="cpu")
    texts = ["a very good film", "dull"]
    answers = [answer["label"] for answer in classify(texts, batch_size=2)]
    logits = model(**tiny_tokenizer(texts, padding=True, return_tensors="pt")).logits
    assert answers == [model.config.id2label[index] for index in logits.argmax(dim=1).tolist()]
    assert said == []


@pytest.mark.field_case(9)
def test_loading_and_evaluating_change_no_parameter(
    tiny_model: Make, batch: dict[str, Tensor], tmp_path: Path
) -> None:
    tiny_model().save_pretrained(tmp_path)
    model = MultiExitForSequenceClassification.from_pretrained(tmp_path)
    assert not model.training
    before = copy.deepcopy(model.state_dict())
    model.exit_outputs(**batch)
    model(**batch, labels=torch.zeros(4, dtype=torch.long))
    torch.testing.assert_close(model.state_dict(), before, rtol=0, atol=0)


@pytest.mark.parametrize(
    "asked", [{"num_labels": 5}, {"id2label": dict(enumerate("abcde"))}], ids=["number", "names"]
)
@pytest.mark.parametrize(
    "loader", [MultiExitForSequenceClassification, AutoModelForSequenceClassification]
)
@pytest.mark.field_case(69)
def test_another_number_of_labels_is_an_error_with_both_numbers(
    loader: type[PreTrainedModel], asked: dict[str, Any], tiny_model: Make, tmp_path: Path
) -> None:
    tiny_model().save_pretrained(tmp_path)
    with pytest.raises(ValueError, match=r"has 3 labels, asked for 5: ignore_mismatched_sizes"):
        loader.from_pretrained(tmp_path, **asked)


@pytest.mark.field_case(69)
def test_new_classifiers_can_be_asked_for_and_nothing_else_is_new(
    tiny_model: Make, batch: dict[str, Tensor], tmp_path: Path
) -> None:
    model = tiny_model(last_exit=PoolerExitConfig())
    model.save_pretrained(tmp_path)
    found = MultiExitForSequenceClassification.from_pretrained(
        tmp_path, id2label=dict(enumerate("abcde")), ignore_mismatched_sizes=True
    )
    old, new = model.state_dict(), found.state_dict()
    assert list(old) == list(new)
    classifiers = [name for name in old if ".classifier." in name]
    assert len(classifiers) == 4  # one has a bias
    for name in set(old).difference(classifiers):
        torch.testing.assert_close(new[name], old[name], rtol=0, atol=0)
    for name in classifiers:
        assert len(new[name]) == 5
        assert new[name].abs().max() < 0.1, name  # drawn afresh at 0.02
    assert found.config.label_names == tuple("abcde")
    assert found(**batch).logits.shape == (4, 5)


def test_new_names_for_as_many_labels_are_taken(tiny_model: Make, tmp_path: Path) -> None:
    model = tiny_model()
    model.save_pretrained(tmp_path)
    names = dict(enumerate(["schlecht", "mittel", "gut"]))
    found = MultiExitForSequenceClassification.from_pretrained(tmp_path, id2label=names)
    assert found.config.label_names == ("schlecht", "mittel", "gut")
    torch.testing.assert_close(found.state_dict(), model.state_dict(), rtol=0, atol=0)


@pytest.mark.field_case(71)
def test_the_model_card_says_what_to_import_first(tiny_model: Make, tmp_path: Path) -> None:
    tiny_model(labels=["no", "yes"]).save_pretrained(tmp_path)
    card = (tmp_path / "README.md").read_text()
    assert "```python\nimport exitwise\nfrom transformers import pipeline\n" in card
    assert "bert with 3 layers and an exit after each.\nLabels: no, yes.\n" in card


def test_a_model_card_that_is_there_is_left_alone(tiny_model: Make, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    tiny_model().save_pretrained(tmp_path)
    assert (tmp_path / "README.md").read_text() == "mine"


@pytest.mark.parametrize("kind", ["eager", "sdpa"])
def test_the_kind_of_attention_reaches_the_encoder(
    kind: str, tiny_model: Make, tmp_path: Path
) -> None:
    tiny_model().save_pretrained(tmp_path)
    found = MultiExitForSequenceClassification.from_pretrained(tmp_path, attn_implementation=kind)
    assert found.encoder.config._attn_implementation == kind


def test_half_precision_can_be_asked_for(
    tiny_model: Make, batch: dict[str, Tensor], tmp_path: Path
) -> None:
    model = tiny_model()
    model.save_pretrained(tmp_path)
    found = MultiExitForSequenceClassification.from_pretrained(tmp_path, dtype=torch.bfloat16)
    expected = model.bfloat16()(**batch).logits
    assert expected.dtype == torch.bfloat16
    torch.testing.assert_close(found(**batch).logits, expected, rtol=0, atol=0)


def test_the_precision_is_that_of_the_saved_model(tiny_model: Make, tmp_path: Path) -> None:
    tiny_model().to(torch.bfloat16).save_pretrained(tmp_path)
    found = MultiExitForSequenceClassification.from_pretrained(tmp_path)
    assert {parameter.dtype for parameter in found.parameters()} == {torch.bfloat16}


@pytest.mark.parametrize("loader", [MultiExitForSequenceClassification, MultiExitConfig])
def test_a_model_without_exits_is_refused_with_what_to_do(
    loader: type[MultiExitForSequenceClassification | MultiExitConfig],
    tiny_encoder: Callable[..., PreTrainedModel],
    said: list[str],
    tmp_path: Path,
) -> None:
    tiny_encoder("bert").save_pretrained(tmp_path)
    with pytest.raises(UnsupportedError, match="a model of type 'bert', without exits: from_enc"):
        loader.from_pretrained(tmp_path)
    assert said == []


def test_an_encoder_without_the_rest_of_its_old_model_is_loaded_in_silence(
    tiny_encoder: Callable[..., PreTrainedModel], said: list[str], tmp_path: Path
) -> None:
    BertForMaskedLM(tiny_encoder("bert").config).save_pretrained(tmp_path)
    MultiExitForSequenceClassification.from_encoder(
        tmp_path, labels=["no", "yes"], exit=LinearExitConfig()
    )
    assert said == []
    transformers.AutoModel.from_pretrained(tmp_path)
    assert len(said) == 1  # which people ask about
