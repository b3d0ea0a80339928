"""A k-layer model answers as exit k does, and is smaller."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForSequenceClassification

from exitwise.encoders import keep_heads
from exitwise.errors import ExitwiseError
from exitwise.exits import LinearExitConfig, PoolerExitConfig
from exitwise.export import export_plain
from exitwise.inference.torch_engine import TorchEngine


@pytest.mark.field_case(20)
@pytest.mark.parametrize("model_type", ["bert", "modernbert", "mpnet"])
def test_it_answers_as_the_exit(
    make_engine: Callable[..., TorchEngine], texts: list[str], tmp_path: Path, model_type: str
) -> None:
    engine = make_engine(model_type)
    expected = engine.logits(texts, layers=[2])
    size = engine.model.num_parameters()
    export_plain(engine, tmp_path / "short", layer=2)
    short = TorchEngine.from_pretrained(tmp_path / "short", device="cpu")
    np.testing.assert_allclose(short.logits(texts), expected, atol=1e-6)
    assert short.model.num_parameters() < size
    model = AutoModelForSequenceClassification.from_pretrained(tmp_path / "short")
    assert model.num_layers == 2
    assert [path.name for path in tmp_path.iterdir()] == ["short"]


def test_a_model_with_pruned_heads_stays_one_of_ours(
    make_engine: Callable[..., TorchEngine], texts: list[str], tmp_path: Path
) -> None:
    engine = make_engine("bert", exit=LinearExitConfig())
    keep_heads(engine.model.encoder, [[1]] * engine.model.num_layers)
    expected = engine.logits(texts, layers=[2])
    export_plain(engine, tmp_path / "short", layer=2)
    short = TorchEngine.from_pretrained(tmp_path / "short", device="cpu")
    np.testing.assert_allclose(short.logits(texts), expected, atol=1e-6)
    assert short.model.config.model_type == "exitwise"


ACTIVATIONS = {"distilbert": "relu", "electra": "gelu"}


@pytest.mark.parametrize("model_type", ["bert", "roberta", "distilbert", "electra", "mpnet"])
@pytest.mark.parametrize("kind", ["linear", "pooler"])
def test_a_stock_class_answers_as_a_linear_or_pooler_exit(
    make_engine: Callable[..., TorchEngine],
    texts: list[str],
    tmp_path: Path,
    model_type: str,
    kind: str,
) -> None:
    pooler = PoolerExitConfig(activation=ACTIVATIONS.get(model_type, "tanh"))
    engine = make_engine(model_type, exit=LinearExitConfig() if kind == "linear" else pooler)
    expected = engine.logits(texts, layers=[2])
    export_plain(engine, tmp_path / "short", layer=2)
    assert json.loads((tmp_path / "short" / "config.json").read_text())["model_type"] == model_type
    stock = AutoModelForSequenceClassification.from_pretrained(tmp_path / "short").eval()
    assert type(stock).__module__.startswith("transformers.")
    assert stock.config.id2label == {0: "bad", 1: "fine", 2: "good"}
    padded = engine.tokens.padded(engine.tokens.encode(texts))
    with torch.no_grad():
        found = stock(**{name: torch.from_numpy(ids) for name, ids in padded.items()}).logits
    np.testing.assert_allclose(found.numpy(), expected[0], rtol=1e-4, atol=1e-4)
    again = TorchEngine.from_pretrained(tmp_path / "short", device="cpu")
    np.testing.assert_allclose(again.logits(texts), expected, rtol=1e-4, atol=1e-4)


def test_a_stock_class_loads_without_exitwise(
    make_engine: Callable[..., TorchEngine], tmp_path: Path
) -> None:
    export_plain(make_engine(exit=LinearExitConfig()), tmp_path / "short", layer=1)
    script = f"""
import sys
sys.modules["exitwise"] = None  # importing it fails
from transformers import AutoModelForSequenceClassification
model = AutoModelForSequenceClassification.from_pretrained({str(tmp_path / "short")!r})
print(model.config.id2label)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "{0: 'bad', 1: 'fine', 2: 'good'}\n", done.stderr


def test_a_layer_without_exit_is_refused(
    make_engine: Callable[..., TorchEngine], tmp_path: Path
) -> None:
    with pytest.raises(ExitwiseError, match="no exit at layer 9: the model has exits at 1, 2, 3"):
        export_plain(make_engine(), tmp_path / "short", layer=9)
