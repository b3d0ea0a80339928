"""`exitwise calibrate`: what it stores, tells and refuses."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

from exitwise.classifier import EarlyExitClassifier
from exitwise.cli.calibrate import SETTINGS, Kind, milliseconds_of
from exitwise.errors import RecipeError
from exitwise.inference.policy_file import read_policy, write_policy
from exitwise.policies import ConfidencePolicy, ExitPolicy, VotePolicy, policy_from_plain

Run = Callable[..., Any]


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Path:
    """A run of its own, since calibration is stored with it."""
    return Path(shutil.copytree(trained, tmp_path / "run"))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Labelled texts that were not trained on; some of them are wrong."""
    adjectives = {"good": "positive", "great": "positive", "bad": "negative", "dull": "negative"}
    rows = [
        f"the {noun} was {word} and {other} ,{label}"
        for noun in ("film", "plot", "story", "actor", "movie")
        for word, label in adjectives.items()
        for other in ("long", "short", "warm", "cold")
    ]
    path = tmp_path / "dev.csv"
    path.write_text("\n".join(["text,label", *rows]).replace(" ,", ",") + "\n")
    return path


@pytest.mark.field_case(8)
def test_thresholds_are_stored_and_used(exitwise: Run, run: Path, data: Path) -> None:
    outcome = exitwise("calibrate", run, "--data", data, "--max-drop", 5, "--json")
    assert outcome.status == 0, outcome.err
    report = json.loads(outcome.out)
    assert report["drop"] <= 5
    assert sum(each["rows"] for each in report["exits"].values()) == 80
    assert any("--confidence 0.95 makes a promise" in note for note in report["notes"])
    policy = read_policy(run / "model")
    assert isinstance(policy, ConfidencePolicy)
    assert json.loads((run / "model" / "calibration.json").read_text()) == report
    answered = exitwise("predict", run, data)
    layers = [json.loads(line)["layer"] for line in answered.out.splitlines()]
    found = {str(layer): layers.count(layer) for layer in (1, 2, 3)}
    assert found == {layer: each["rows"] for layer, each in report["exits"].items()}
    assert "80 rows answered: exit" in answered.err


@pytest.mark.field_case(7)
def test_scores_come_with_where_texts_leave(exitwise: Run, run: Path, data: Path) -> None:
    report = json.loads(exitwise("calibrate", run, "--data", data, "--max-drop", 5, "--json").out)
    measured = json.loads(exitwise("evaluate", run, "--data", data, "--json").out)
    (found,) = measured["scores"].values()
    assert found["early_exit"]["rows"] == {
        layer: each["rows"] for layer, each in report["exits"].items()
    }
    assert found["early_exit"]["scores"]["score"] == pytest.approx(report["score"])
    told = exitwise("evaluate", run, "--data", data).out
    assert f"early exit: layer {report['mean_layer']:.2f} on average; exit 1 " in told
    assert "Nothing leaves early" not in told
    write_policy(run / "model", ConfidencePolicy(threshold=None))
    told = exitwise("evaluate", run, "--data", data).out
    assert "exit 3 100 %. Nothing leaves early: calibrate again" in told


def test_the_model_card_tells_of_the_calibration(exitwise: Run, run: Path, data: Path) -> None:
    for _ in range(2):
        assert exitwise("calibrate", run, "--data", data, "--max-drop", 5).status == 0
    card = (run / "model" / "README.md").read_text()
    assert card.count("## Early exit") == 1
    assert f"80 rows of {data}" in card
    assert "| 3 | the rest |" in card
    assert "No promise is made." in card


def test_a_saved_copy_keeps_the_calibration(
    exitwise: Run, run: Path, data: Path, tmp_path: Path
) -> None:
    assert exitwise("calibrate", run, "--data", data, "--max-drop", 5).status == 0
    copy = tmp_path / "copy"
    EarlyExitClassifier.from_pretrained(run).save_pretrained(copy)
    for name in ("policy.json", "calibration.json", "README.md"):
        assert (copy / name).read_text() == (run / "model" / name).read_text()
    other = EarlyExitClassifier.from_pretrained(run, policy=VotePolicy(votes=2))
    other.save_pretrained(copy)
    assert not (copy / "calibration.json").exists()
    assert "Early exit" not in (copy / "README.md").read_text()


def test_it_prints_where_texts_leave(exitwise: Run, run: Path, data: Path) -> None:
    told = exitwise("calibrate", run, "--data", data, "--max-drop", 5).out
    assert "leaves at" in told
    assert "the rest" in told
    assert f"Stored in {run / 'model'}" in told
    told = exitwise("calibrate", run, "--data", data, "--max-drop", 50, "--policy", "patience").out
    assert "patience" in told


def test_layers_or_time_can_be_asked_for(exitwise: Run, run: Path, data: Path) -> None:
    report = json.loads(
        exitwise("calibrate", run, "--data", data, "--target-layers", 2, "--json").out
    )
    assert report["mean_layer"] <= 2
    report = json.loads(
        exitwise("calibrate", run, "--data", data, "--target-latency", "10s", "--json").out
    )
    assert report["cost_unit"] == "share of the whole model's ms"
    outcome = exitwise("calibrate", run, "--data", data, "--target-latency", "1us")
    assert outcome.status == 2
    assert "no policy meets 0.001 ms a text" in outcome.err


@pytest.mark.field_case(14)
def test_rows_that_were_trained_on_are_refused(exitwise: Run, run: Path, labelled: Path) -> None:
    outcome = exitwise("calibrate", run, "--data", labelled, "--max-drop", 5)
    assert outcome.status == 2
    assert "32 of 32 rows were used in training" in outcome.err
    assert read_policy(run / "model") is None
    outcome = exitwise("calibrate", run / "model", "--data", labelled, "--max-drop", 5)
    assert "32 of 32 rows were used in training" in outcome.err
    forced = exitwise("calibrate", run, "--data", labelled, "--max-drop", 5, "--force")
    assert forced.status == 0
    assert "Note: 32 of 32 rows were used in training" in forced.out


def test_a_model_without_its_run_cannot_tell(exitwise: Run, run: Path, data: Path) -> None:
    (run / "model").rename(run.with_name("alone"))
    outcome = exitwise("calibrate", run.with_name("alone"), "--data", data, "--max-drop", 5)
    assert "whether these rows were used in training is not known here" in outcome.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data", "x.csv"], "give one of --max-drop, --target-layers and --target-latency"),
        (["--max-drop", 1], "give either --data FILE or --task TASK"),
        (["--data", "x.csv", "--target-latency", "fast"], "a time such as 2ms or 0.5s"),
        (["--data", "x.csv", "--max-drop", 1, "--target-layers", 2], "give one of --max-drop"),
    ],
)
def test_what_does_not_go_together_is_refused_before_anything_is_loaded(
    exitwise: Run, arguments: list[object], message: str
) -> None:
    outcome = exitwise("calibrate", "nowhere", *arguments)
    assert outcome.status == 2
    assert message in outcome.err
    assert len(outcome.err.splitlines()) == 1


@pytest.mark.field_case(14)
def test_a_promise_needs_rows_enough(exitwise: Run, run: Path, data: Path) -> None:
    arguments = ("calibrate", run, "--data", data, "--max-drop", 1, "--confidence", 0.95)
    outcome = exitwise(*arguments)
    assert outcome.status == 2
    assert "needs 598 labelled rows, half of them to choose the thresholds, found 80" in outcome.err
    report = json.loads(exitwise(*arguments[:-4], "--max-drop", 20, *arguments[-2:], "--json").out)
    assert "with 95 % confidence" in report["promise"]
    assert report["rows"] == {"chosen_on": 40, "measured_on": 40}


def test_every_kind_that_can_be_asked_for_is_a_policy() -> None:
    assert set(get_args(Kind)) == set(SETTINGS) == set(ExitPolicy.registry) - {"fixed"}
    for kind, settings in SETTINGS.items():
        policy_from_plain({"kind": kind} | settings)


@pytest.mark.parametrize("time", ["", "ms", "-1ms", "2", "2 hours", "1.2.3ms"])
def test_what_is_no_time_is_refused(time: str) -> None:
    with pytest.raises(RecipeError, match="is a time such as 2ms"):
        milliseconds_of(time)


def test_a_policy_is_not_stored_where_there_is_no_folder(exitwise: Run, labelled: Path) -> None:
    outcome = exitwise("calibrate", "org/films", "--data", labelled, "--max-drop", 1)
    assert outcome.status == 2 and "org/films is no folder here" in outcome.err
