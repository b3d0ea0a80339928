"""A tiny classifier in float32, and its exported folders, made once each."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from exitwise.exits import MHAExitConfig
from exitwise.export.onnx import export_onnx
from exitwise.inference.torch_engine import TorchEngine
from exitwise.modeling import MultiExitForSequenceClassification
from exitwise.policies import ConfidencePolicy


@pytest.fixture
def policy() -> ConfidencePolicy:
    """Lets some of the texts leave early."""
    return ConfidencePolicy(threshold=0.6)


@pytest.fixture
def make_engine(
    tiny_encoder: Callable[..., PreTrainedModel], tiny_tokenizer: PreTrainedTokenizerFast
) -> Callable[..., TorchEngine]:
    """A factory: type of encoder → an engine, the same at each call, whose exits are wide apart."""

    def make(model_type: str = "bert", **settings: object) -> TorchEngine:
        torch.manual_seed(1)
        model = MultiExitForSequenceClassification.around(
            tiny_encoder(model_type),
            labels=("bad", "fine", "good"),
            **{"exit": MHAExitConfig(width=8)} | settings,
        )
        with torch.no_grad():
            for layer in model.exit_layers:
                for parameter in model.exit(layer).parameters():
                    parameter.add_(torch.randn_like(parameter))
        return TorchEngine(model, tiny_tokenizer)

    return make


_FOLDERS: dict[tuple[str, bool], Path] = {}


@pytest.fixture
def exported(
    make_engine: Callable[..., TorchEngine],
    policy: ConfidencePolicy,
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[..., Path]:
    """A factory: type of encoder → the folder, exported once and only to be read."""

    def make(model_type: str = "bert", *, int8: bool = False) -> Path:
        key = model_type, int8
        if key not in _FOLDERS:
            folder = tmp_path_factory.mktemp("exported") / model_type
            # Other types: a segment of one layer and one of two.
            exits = None if model_type == "bert" else [1, 3]
            export_onnx(make_engine(model_type), folder, policy=policy, exits=exits, int8=int8)
            _FOLDERS[key] = folder
        return _FOLDERS[key]

    return make


@pytest.fixture
def texts() -> list[str]:
    """Of different lengths, an empty one among them."""
    words = "film was not very good bad great dull warm cold long short never".split()  # noqa: SIM905
    return [" ".join(words[: 1 + 5 * i % 13]) for i in range(16)] + [""]
