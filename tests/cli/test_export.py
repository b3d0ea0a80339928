import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from exitwise.inference.manifest import read_manifest
from exitwise.inference.policy_file import write_policy
from exitwise.policies import ConfidencePolicy

Run = Callable[..., Any]


def answers(outcome: Any) -> list[tuple[str, int]]:
    assert outcome.status == 0, outcome.err
    return [(each["label"], each["layer"]) for each in map(json.loads, outcome.out.splitlines())]


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    path = tmp_path / "asked.txt"
    path.write_text("the film was good\nvery dull\nnever bad , not great !\n")
    return path


@pytest.mark.field_case(72)
def test_the_exported_graphs_answer_as_the_run(
    exitwise: Run, trained: Path, asked: Path, tmp_path: Path
) -> None:
    outcome = exitwise("export", trained, "-o", tmp_path / "out", "--exits", "2,3")
    assert outcome.status == 0, outcome.err
    assert str(tmp_path / "out") in outcome.out
    assert "torchvision" not in outcome.err
    for layer in (2, 3):
        expected = answers(exitwise("predict", trained, asked, "--layer", layer))
        assert answers(exitwise("predict", tmp_path / "out", asked, "--layer", layer)) == expected
    labelled = tmp_path / "labelled.csv"
    labelled.write_text("text,label\na good film,positive\nvery dull,negative\n")
    outcome = exitwise("evaluate", tmp_path / "out", "--data", labelled)
    assert outcome.status == 0, outcome.err
    assert "majority class" in outcome.out
    again = exitwise("export", trained, "-o", tmp_path / "out")
    assert again.status == 2
    assert "exists" in again.err


def test_a_policy_for_other_exits_is_left_out_and_the_remedy_works(
    exitwise: Run, trained: Path, labelled: Path, tmp_path: Path
) -> None:
    run, out = Path(shutil.copytree(trained, tmp_path / "run")), tmp_path / "out"
    everywhere = ConfidencePolicy(threshold=0.9, temperatures={1: 2.0, 2: 2.0, 3: 2.0})
    write_policy(run / "model", everywhere)
    outcome = exitwise("export", run, "-o", out, "--exits", "2,3")
    assert outcome.status == 0, outcome.err
    assert (
        f"The policy was left out, since it is for other exits; choose one for these: "
        f"exitwise calibrate {out} --data FILE --max-drop 1.0" in outcome.out
    )
    assert not (out / "policy.json").exists()
    outcome = exitwise("calibrate", out, "--data", labelled, "--max-drop", 50)
    assert outcome.status == 0, outcome.err
    assert exitwise("evaluate", out, "--data", labelled).status == 0
    report = read_manifest(out).calibration
    assert report is not None
    assert report["rows"] == {"chosen_on": 32, "measured_on": 32}


@pytest.mark.slow
def test_what_8_bits_cost_is_told_for_each_exit(
    exitwise: Run, trained: Path, labelled: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    outcome = exitwise("export", trained, "-o", out, "--int8", "--exits", 3, "--data", labelled)
    assert outcome.status == 0, outcome.err
    assert "accuracy on 32 rows, in PyTorch and in 8 bits" in outcome.out
    (line,) = (each for each in outcome.out.splitlines() if each.strip().startswith("3 "))
    _, before, after, drop = line.split()
    assert float(drop) == pytest.approx(float(before) - float(after))
    outcome = exitwise("export", trained, "-o", tmp_path / "other", "--data", labelled)
    assert outcome.status == 2
    assert "--data says what --int8 costs" in outcome.err


def test_the_plain_model_answers_as_its_exit(
    exitwise: Run, trained: Path, asked: Path, tmp_path: Path
) -> None:
    short = tmp_path / "short"
    outcome = exitwise("export", trained, "-o", short, "--format", "plain", "--layer", 2)
    assert outcome.status == 0, outcome.err
    expected = answers(exitwise("predict", trained, asked, "--layer", 2))
    assert answers(exitwise("predict", short, asked)) == expected


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--format", "plain"], "--format plain needs --layer"),
        (["--format", "plain", "--layer", 1, "--int8"], "belong to --format onnx"),
        (["--layer", 1], "--layer belongs to --format plain"),
        (["--exits", "one"], "--exits is a list such as 2,4,6, found 'one'"),
        (["--exits", "4"], "exits 4 cannot be kept: the model has exits at 1, 2, 3"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    exitwise: Run, trained: Path, tmp_path: Path, options: list[object], words: str
) -> None:
    outcome = exitwise("export", trained, "-o", tmp_path / "out", *options)
    assert outcome.status == 2
    assert words in outcome.err
    assert not (tmp_path / "out").exists()
