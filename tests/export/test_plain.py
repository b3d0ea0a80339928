"""A k-layer model answers as exit k does, and is smaller."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from transformers import AutoModelForSequenceClassification

from exitwise.errors import ExitwiseError
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


def test_a_layer_without_exit_is_refused(
    make_engine: Callable[..., TorchEngine], tmp_path: Path
) -> None:
    with pytest.raises(ExitwiseError, match="no exit at layer 9: the model has exits at 1, 2, 3"):
        export_plain(make_engine(), tmp_path / "short", layer=9)
