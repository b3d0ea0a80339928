"""What is said, and what is refused, when pre-trained weights are loaded."""

import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file
from transformers import AutoModel, BertForMaskedLM, PreTrainedModel

from exitwise.encoders import load_encoder
from exitwise.errors import UnsupportedError


@pytest.fixture
def reports(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The library's load reports, as far as they come through."""
    messages: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(record.getMessage())

    logger = logging.getLogger("transformers.modeling_utils")
    monkeypatch.setattr(logger, "handlers", [Handler()])
    return messages


def test_weights_that_no_encoder_needs_are_not_reported(
    tiny_encoder: Callable[..., PreTrainedModel], reports: list[str], tmp_path: Path
) -> None:
    BertForMaskedLM(tiny_encoder("bert").config).save_pretrained(tmp_path)
    load_encoder(tmp_path)
    assert reports == []
    AutoModel.from_pretrained(tmp_path)  # the library itself goes on reporting
    assert len(reports) == 1


def test_weights_that_an_encoder_lacks_are_an_error_that_names_one(
    tiny_encoder: Callable[..., PreTrainedModel], tmp_path: Path
) -> None:
    tiny_encoder("bert").save_pretrained(tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    gone = [name for name in weights if name.startswith("encoder.layer.2.output.dense")]
    save_file(
        {name: weights[name] for name in weights if name not in gone},
        tmp_path / "model.safetensors",
        metadata={"format": "pt"},
    )
    with pytest.raises(UnsupportedError, match=f"lacks 2 of the model's weights, {min(gone)} for"):
        load_encoder(tmp_path)


def test_the_report_comes_through_where_an_error_refers_to_it(
    tiny_encoder: Callable[..., PreTrainedModel], reports: list[str], tmp_path: Path
) -> None:
    encoder = tiny_encoder("bert")
    encoder.save_pretrained(tmp_path)
    encoder.config.intermediate_size += 1
    encoder.config.save_pretrained(tmp_path)
    with pytest.raises(RuntimeError, match="above report"):
        load_encoder(tmp_path)
    assert len(reports) == 1
    assert "LOAD REPORT" in reports[0]
