"""Exported graphs say what torch says, need no torch, and a row's neighbours change nothing."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import onnx
import pytest

from exitwise.classifier import EarlyExitClassifier
from exitwise.errors import ExitwiseError, UnsupportedError
from exitwise.exits import LinearExitConfig, PoolerExitConfig
from exitwise.export.onnx import EXPORTABLE, export_onnx
from exitwise.inference import EarlyExit, onnx_engine
from exitwise.inference.manifest import read_manifest, with_files
from exitwise.inference.onnx_engine import OnnxEngine
from exitwise.inference.policy_file import write_policy
from exitwise.inference.torch_engine import TorchEngine
from exitwise.policies import ConfidencePolicy, ExitPolicy, policy_to_plain


@pytest.mark.field_case(72)
@pytest.mark.parametrize("model_type", ["bert", pytest.param("mpnet", marks=pytest.mark.slow)])
def test_logits_and_exit_decisions_are_those_of_torch(
    make_engine: Callable[..., TorchEngine],
    exported: Callable[..., Path],
    texts: list[str],
    policy: ExitPolicy,
    model_type: str,
) -> None:
    graphs, torch = OnnxEngine(exported(model_type)), make_engine(model_type)
    expected = torch.logits(texts, layers=graphs.exit_layers)
    np.testing.assert_allclose(graphs.logits(texts), expected, atol=1e-4)
    assert np.ptp(expected) > 1
    for batch_size in (1, 2, 7, 32):
        there = EarlyExit(torch, policy, layers=graphs.exit_layers, batch_size=batch_size)(texts)
        here = EarlyExit(graphs, policy, batch_size=batch_size)(texts)
        assert here.layers.tolist() == there.layers.tolist()
        assert here.labels.tolist() == there.labels.tolist()
    assert len(set(here.layers.tolist())) > 1


@pytest.mark.slow
@pytest.mark.parametrize("model_type", EXPORTABLE)
def test_every_exportable_encoder_has_the_logits_of_torch(
    make_engine: Callable[..., TorchEngine],
    exported: Callable[..., Path],
    texts: list[str],
    model_type: str,
) -> None:
    graphs = OnnxEngine(exported(model_type))
    expected = make_engine(model_type).logits(texts, layers=graphs.exit_layers)
    np.testing.assert_allclose(graphs.logits(texts), expected, atol=1e-4)


def test_attention_is_one_operator(exported: Callable[..., Path]) -> None:
    graph = onnx.load(exported() / "segment_02.onnx").graph
    kinds = [node.op_type for node in graph.node]
    assert kinds.count("Attention") == 2  # of the layer and its exit
    assert not {"Reshape", "Softmax", "Transpose"}.intersection(kinds)


@pytest.mark.slow
@pytest.mark.parametrize("exit", [LinearExitConfig(), PoolerExitConfig()])
def test_other_exits_have_the_logits_of_torch(
    make_engine: Callable[..., TorchEngine], texts: list[str], tmp_path: Path, exit: object
) -> None:
    engine = make_engine(exit=exit)
    export_onnx(engine, tmp_path / "out", exits=[1])
    found = OnnxEngine(tmp_path / "out").logits(texts)
    np.testing.assert_allclose(found, engine.logits(texts, layers=[1]), atol=1e-4)


def test_int8_is_near_and_a_row_does_not_depend_on_its_neighbours(
    make_engine: Callable[..., TorchEngine], exported: Callable[..., Path], texts: list[str]
) -> None:
    graphs = OnnxEngine(exported(int8=True))
    together = graphs.logits(texts)
    alone = np.concatenate([graphs.logits([text]) for text in texts], axis=1)
    # Attention in float32 adds in another order under padding.
    np.testing.assert_allclose(together, alone, atol=1e-4)
    exact = make_engine().logits(texts)
    # Random exits of a random encoder magnify the error with every layer: see the first.
    assert 1e-4 < np.abs(together - exact)[0].mean() < 0.1 * exact[0].std()


def test_no_weight_is_written_twice(
    make_engine: Callable[..., TorchEngine], exported: Callable[..., Path]
) -> None:
    model = make_engine().model
    size = sum(path.stat().st_size for path in exported().glob("*.onnx"))
    weights = 4 * sum(parameter.numel() for parameter in model.parameters())
    overhead = 60_000 * len(model.exit_layers)  # operators and names
    assert weights * 0.9 < size < weights + overhead


@pytest.mark.field_case(72)
def test_answers_need_no_torch(exported: Callable[..., Path]) -> None:
    script = f"""
import sys
for name in ("torch", "transformers", "onnx", "sklearn", "scipy", "datasets", "pandas"):
    sys.modules[name] = None  # importing it fails
from exitwise import EarlyExitClassifier
classifier = EarlyExitClassifier.from_pretrained({str(exported())!r})
print(len(classifier.predict_detailed(["a good film", "dull"])), classifier.policy)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 ConfidencePolicy")


@pytest.fixture
def copy(exported: Callable[..., Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(exported(), tmp_path / "copy"))


def test_an_altered_segment_is_refused(copy: Path) -> None:
    with (copy / "segment_02.onnx").open("ab") as file:
        file.write(b"x")
    with pytest.raises(ExitwiseError, match=r"segment_02\.onnx is not the file"):
        OnnxEngine(copy)


def test_saving_onto_itself_leaves_a_folder_whole(copy: Path, texts: list[str]) -> None:
    engine = OnnxEngine(copy)
    engine.save_pretrained(copy)
    np.testing.assert_array_equal(OnnxEngine(copy).logits(texts), engine.logits(texts))


def test_a_missing_segment_is_refused(copy: Path) -> None:
    (copy / "segment_03.onnx").unlink()
    with pytest.raises(ExitwiseError, match=r"segment_03\.onnx is missing"):
        OnnxEngine(copy)


@pytest.mark.parametrize("content", [None, "{}"])
def test_a_policy_that_is_not_the_exported_one_is_refused(copy: Path, content: str | None) -> None:
    (copy / "policy.json").unlink()
    if content is not None:
        (copy / "policy.json").write_text(content)
    with pytest.raises(ExitwiseError, match=r"policy\.json is (missing|not the file)"):
        OnnxEngine(copy)


def test_a_file_outside_the_folder_is_refused(copy: Path) -> None:
    path = copy / "manifest.json"
    plain = json.loads(path.read_text())
    plain["sha256"]["../a.onnx"] = ""
    path.write_text(json.dumps(plain))
    with pytest.raises(ExitwiseError, match="outside"):
        OnnxEngine(copy)


def test_a_manifest_does_not_list_itself(copy: Path) -> None:
    manifest = read_manifest(copy)
    assert with_files(manifest, copy) == manifest


def test_the_dtype_of_graphs_cannot_be_asked_for(copy: Path) -> None:
    with pytest.raises(ExitwiseError, match="was exported to ONNX: dtype is of PyTorch's"):
        EarlyExitClassifier.from_pretrained(copy, dtype="bfloat16")


def test_graphs_run_with_as_many_threads_as_are_asked_for(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = Mock(wraps=onnx_engine.session_options)
    monkeypatch.setattr(onnx_engine, "session_options", options)
    classifier = EarlyExitClassifier.from_pretrained(copy, num_threads=1)
    options.assert_called_once_with(1)
    assert len(classifier.predict(["a good film"])) == 1
    assert options(1).intra_op_num_threads == 1
    with pytest.raises(ExitwiseError, match="num_threads must be at least 1, found 0"):
        EarlyExitClassifier.from_pretrained(copy, num_threads=0)


def test_another_policy_is_noted_in_the_manifest(copy: Path, tmp_path: Path) -> None:
    policy = ConfidencePolicy(threshold=0.7)
    write_policy(copy, policy, calibration={"policy": policy_to_plain(policy)})
    report = read_manifest(copy).calibration
    assert report == {"policy": policy_to_plain(policy)}
    classifier = EarlyExitClassifier.from_pretrained(copy)
    for folder in (copy, tmp_path / "saved"):
        classifier.save_pretrained(folder)
        assert read_manifest(folder).calibration == report
    other = ConfidencePolicy(threshold=0.8)
    EarlyExitClassifier.from_pretrained(copy, policy=other).save_pretrained(copy)
    assert read_manifest(copy).calibration is None
    assert EarlyExitClassifier.from_pretrained(copy).policy == other


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format_version": 2}, "format version 2, this exitwise reads 1"),
        ({"format_version": "1"}, "format version '1', this exitwise reads 1"),
        ({"segments": ["segment_01.onnx"]}, "segments segment_01.onnx for the exits at 1, 2, 3"),
        (
            {"segments": ["segment_01.onnx", "segment_03.onnx", "segment_02.onnx"]},
            "segments segment_01.onnx, segment_03.onnx, .* for the exits at 1, 2, 3",
        ),
        ({"exit_layers": [1, 3, 2]}, "exit_layers must ascend from 1, found 1, 3, 2"),
        ({"num_layers": 4}, "num_layers is 4 and the last exit at 3"),
        ({"unknown": 1}, "manifest.json has no setting unknown: export the run again"),
        ({"sha256": None}, "sha256 must be a table, found None: export the run again"),
        ({"sha256": {}}, "sha256 lacks segment_01.onnx, .*, tokenizer.json"),
        ({"max_length": "128"}, "max_length must be a whole number, found '128'"),
        ({"max_length": 65}, "max_length must be from 1 to 64, found 65"),
        ({"labels": ["bad", "good"]}, "has 2 labels for 3 classes"),
        (
            {"input_names": ["input_ids", "attention_mask"]},
            "input_names must be attention_mask, input_ids, token_type_ids, found input_ids, att",
        ),
        ({"task": "multi-label"}, "task must be 'text-classification', found 'multi-label'"),
    ],
)
def test_a_wrong_manifest_is_refused(copy: Path, change: dict[str, object], words: str) -> None:
    path = copy / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ExitwiseError, match=words):
        OnnxEngine(copy)


def test_a_device_that_is_not_there_is_refused(exported: Callable[..., Path]) -> None:
    with pytest.raises(ExitwiseError, match="has no CUDAExecutionProvider"):
        OnnxEngine(exported(), device="cuda")


@pytest.mark.field_case(74)
@pytest.mark.parametrize("model_type", ["albert", "deberta-v2", "modernbert"])
def test_an_untested_encoder_is_refused_by_name(
    make_engine: Callable[..., TorchEngine], tmp_path: Path, model_type: str
) -> None:
    with pytest.raises(UnsupportedError, match=f"'{model_type}' cannot be exported"):
        export_onnx(make_engine(model_type), tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_a_policy_for_other_exits_and_a_folder_that_exists_are_refused(
    make_engine: Callable[..., TorchEngine], tmp_path: Path
) -> None:
    with pytest.raises(ExitwiseError, match="exits 7 cannot be kept"):
        export_onnx(make_engine(), tmp_path / "out", exits=[7])
    with pytest.raises(ExitwiseError, match="exists"):
        export_onnx(make_engine(), tmp_path)
