"""The first k layers as one graph say what the segments say, and hold no other exit."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

from exitwise.errors import ExitwiseError
from exitwise.export.merged import merge_segments
from exitwise.inference.onnx_engine import OnnxEngine
from exitwise.inference.torch_engine import TorchEngine


@pytest.mark.parametrize("int8", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("layer", [1, 2, 3])
def test_one_graph_says_what_the_segments_say(
    exported: Callable[..., Path], texts: list[str], tmp_path: Path, int8: bool, layer: int
) -> None:
    folder = exported(int8=int8)
    merge_segments(folder, tmp_path / "plain", layer=layer)
    segments, plain = OnnxEngine(folder), OnnxEngine(tmp_path / "plain")
    assert plain.exit_layers == (layer,)
    assert len(plain.manifest.segments) == 1
    opsets = onnx.load(tmp_path / "plain" / "segment_01.onnx").opset_import
    assert len({each.domain for each in opsets}) == len(opsets)
    np.testing.assert_allclose(
        plain.logits(texts), segments.logits(texts, layers=[layer]), atol=1e-5
    )


def test_no_other_exit_and_no_later_layer_is_in_it(
    exported: Callable[..., Path], tmp_path: Path
) -> None:
    sizes = []
    for layer in (1, 2, 3):
        merge_segments(exported(), tmp_path / str(layer), layer=layer)
        sizes.append((tmp_path / str(layer) / "segment_01.onnx").stat().st_size)
    segments = [path.stat().st_size for path in sorted(exported().glob("*.onnx"))]
    assert sizes[0] < segments[0] + 1000
    assert sizes[0] < sizes[1] < sizes[2] < sum(segments)


def test_a_folder_that_exists_is_left_alone(exported: Callable[..., Path], tmp_path: Path) -> None:
    with pytest.raises(ExitwiseError, match="exists"):
        merge_segments(exported(), tmp_path, layer=1)


def test_multiply_accumulates_are_those_of_torch(
    make_engine: Callable[..., TorchEngine], exported: Callable[..., Path], tmp_path: Path
) -> None:
    torch, segments = make_engine(), OnnxEngine(exported())
    merge_segments(exported(), tmp_path / "plain", layer=3)
    plain = OnnxEngine(tmp_path / "plain")
    for length in (1, 7, 40):
        steps = [
            engine.macs(after=after, to=after + 1, length=length)
            for engine in (torch, segments)
            for after in range(3)
        ]
        assert steps[:3] == steps[3:]
        whole = torch.macs(after=0, to=3, length=length)
        assert plain.macs(after=0, to=3, length=length) == whole
        # A static graph has all exits on the way.
        assert segments.macs(after=0, to=3, length=length) == sum(steps[:3]) > whole
