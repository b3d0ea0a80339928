"""`exitwise benchmark` on a tiny run: all systems, a file, a picture and a verdict."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

TIMED = ("--rows", 4, "--rounds", 1, "--batch-sizes", "1,2")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.getbasetemp() / "benchmarked"


@pytest.fixture
def calibrated(exitwise: Run, trained: Path, labelled: Path, folder: Path) -> Path:
    """An exported folder of the tiny run, calibrated; made once."""
    if not folder.exists():
        assert exitwise("export", trained, "-o", folder, "--exits", "1,3").status == 0
        outcome = exitwise("calibrate", folder, "--data", labelled, "--max-drop", 5, "--force")
        assert outcome.status == 0, outcome.err
    return folder


@pytest.mark.slow
@pytest.mark.field_case(4)
def test_every_system_is_scored_and_timed(
    exitwise: Run, calibrated: Path, labelled: Path, tmp_path: Path
) -> None:
    outcome = exitwise("benchmark", calibrated, "--data", labelled, "-o", tmp_path, *TIMED)
    assert outcome.status == 0, outcome.err
    assert outcome.out.count("Verdict: use ") == 2
    result = json.loads((tmp_path / "benchmark.json").read_text())
    names = [each["name"] for each in result["systems"]]
    plain = ["onnx: plain, 1 layer", "onnx: plain, 3 layers"]
    assert names == [*plain, "onnx: all exits", "onnx: early exit"]
    whole, full_exits, early = result["systems"][1:]
    assert whole["score"] == full_exits["score"]
    for size in ("1", "2"):
        assert whole["times"][size]["speedup"] == whole["times"][size]["ideal_speedup"] == 1
        assert full_exits["times"][size]["ideal_speedup"] < 1  # exits cost something
        assert early["times"][size]["ideal_speedup"] >= full_exits["times"][size]["ideal_speedup"]
        assert set(result["verdict"][size])
    # What a time means stands beside it.
    assert result["settings"]["tokenizer_included"] is True
    assert result["settings"]["tokens_a_text"]["mean"] > 2
    assert {"device", "threads", "processor", "packages"} <= set(result["environment"])
    assert (tmp_path / "benchmark.png").read_bytes().startswith(b"\x89PNG")


@pytest.fixture
def run(exitwise: Run, trained: Path, labelled: Path, tmp_path: Path) -> Path:
    """A calibrated copy of the tiny run."""
    copied = Path(shutil.copytree(trained, tmp_path / "run"))
    outcome = exitwise("calibrate", copied, "--data", labelled, "--max-drop", 5, "--force")
    assert outcome.status == 0, outcome.err
    return copied


@pytest.mark.field_case(12)
def test_a_run_is_measured_with_eager_torch(exitwise: Run, run: Path, labelled: Path) -> None:
    settings = ("--data", labelled, *TIMED, "--engines", "torch")
    outcome = exitwise("benchmark", run, *settings)
    assert outcome.status == 0, outcome.err
    assert outcome.out.count("Verdict: use ") == 2
    result = json.loads((run / "benchmark.json").read_text())
    assert {each["engine"] for each in result["systems"]} == {"torch"}
    assert {each["dtype"] for each in result["systems"]} == {"float32"}
    assert result["settings"]["rounds"] == 1
    assert "Note: the policy was chosen on these very rows: measure on others." in outcome.out
    assert "32 of 32 rows were used in training: measure on others" in result["notes"]
    assert {"onnx", "onnxruntime"} <= set(result["environment"]["packages"])
    assert result["settings"]["tokenizer_included"] is True
    assert {"device", "threads", "processor", "packages"} <= set(result["environment"])
    early = result["systems"][-1]
    assert "7.0 tokens a text with padding" in outcome.out
    for each in result["systems"]:
        times = each["times"]["1"]
        assert times["calls"] == 4
        assert times["macs_per_text"] > 0
        assert times["padded_tokens_per_text"] == early["times"]["1"]["padded_tokens_per_text"] > 2
        pooled = each["times"]["2"]  # of 16 batches; one call would have no spread
        assert (pooled["calls"], pooled["texts_per_call"]) == (5, 6)
        assert 0 < times["p50_ms_per_call"] <= times["p95_ms_per_call"]
        rows = list(each["rows_by_layer"].values())
        assert each["share_at_last"] == rows[-1] / sum(rows)


def test_what_cannot_be_exported_is_told_what_measures_it(
    exitwise: Run, run: Path, labelled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exitwise.export.onnx.EXPORTABLE", ())
    outcome = exitwise("benchmark", run, "--data", labelled, *TIMED)
    assert outcome.status == 2
    assert "'bert' cannot be exported to ONNX yet" in outcome.err
    assert "--engines torch measures it" in outcome.err


def test_what_cannot_be_measured_is_refused(
    exitwise: Run, trained: Path, run: Path, labelled: Path
) -> None:
    outcome = exitwise("benchmark", trained, "--data", labelled)
    assert outcome.status == 2
    assert "is not calibrated" in outcome.err
    assert "exitwise calibrate" in outcome.err
    outcome = exitwise("benchmark", run)
    assert "give either --data FILE or --task TASK" in outcome.err
    outcome = exitwise("benchmark", run, "--data", labelled, "--batch-sizes", "one")
    assert "--batch-sizes is a list such as 1,32, found 'one'" in outcome.err
    outcome = exitwise("benchmark", run, "--data", labelled, "--engines", "torch,tf")
    assert "--engines is a list of torch, onnx, int8, found 'tf'" in outcome.err
