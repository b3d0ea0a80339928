import json
import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from exitwise.cli.recipe_options import chosen_recipe
from exitwise.cli.train import default_folder

Run = Callable[..., Any]


@pytest.mark.field_case(49)
def test_one_command_runs_both_stages(trained: Path) -> None:
    lines = [json.loads(line) for line in (trained / "metrics.jsonl").read_text().splitlines()]
    stages = [("backbone", epoch) for epoch in range(1, 11)] + [("exits", 1), ("exits", 2)]
    assert [(line["stage"], line["epoch"]) for line in lines] == stages
    assert (trained / "model" / "model.safetensors").exists()


def test_the_scores_of_all_exits_are_printed_with_what_to_read_them_beside(
    exitwise: Run, quick: list[object], trained: Path
) -> None:
    outcome = exitwise("train", *quick, "-o", trained, "--resume")  # it has ended: only told again
    scores = json.loads((trained / "result.json").read_text())["scores"]["validation"]
    for layer, exit_scores in scores["exits"].items():
        flag = " *" if layer in scores["constant"] else ""
        assert row(outcome.out, layer + flag) == [f"{exit_scores['accuracy']:.1f}"]
    assert row(outcome.out, "average") == [f"{scores['average']['accuracy']:.1f}"]
    assert row(outcome.out, "majority class") == ["50.0"]
    assert row(outcome.out, "positive")[-2] == "16"
    assert str(trained / "model") in outcome.out


def row(table: str, name: str) -> list[str]:
    """The cells of the row of that name."""
    (line,) = (line for line in table.splitlines() if line.strip().startswith(f"{name}  "))
    return line.strip().removeprefix(name).split()


def test_json_is_the_result_alone(exitwise: Run, quick: list[object], trained: Path) -> None:
    outcome = exitwise("train", *quick, "-o", trained, "--resume", "--json")
    assert json.loads(outcome.out) == json.loads((trained / "result.json").read_text())


def test_a_run_that_is_there_is_not_overwritten(
    exitwise: Run, quick: list[object], trained: Path
) -> None:
    before = (trained / "result.json").read_text()
    outcome = exitwise("train", *quick, "-o", trained)
    assert outcome.status == 2
    assert "--resume" in outcome.err
    assert "--force" in outcome.err
    assert (trained / "result.json").read_text() == before


class Interrupts(logging.Handler):
    """What Ctrl-C does, once the first epoch of the second stage is told."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage().startswith("exits, epoch 1"):
            raise KeyboardInterrupt


def test_an_interrupted_run_says_how_to_go_on_and_does(
    exitwise: Run, quick: list[object], trained: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    logger = logging.getLogger("exitwise.cli.progress")
    interrupts = Interrupts()
    logger.addHandler(interrupts)
    try:
        stopped = exitwise("train", "-q", *quick, "-o", folder)
    finally:
        logger.removeHandler(interrupts)
    assert stopped.status == 130
    assert stopped.err.endswith(f"exitwise: interrupted; --resume goes on in {folder}\n")
    assert exitwise("train", *quick, "-o", folder, "--resume").status == 0
    found, whole = ((run / "model" / "model.safetensors").read_bytes() for run in (folder, trained))
    assert found == whole


def test_progress_tells_loss_gate_and_score_of_each_stage(trained: Path) -> None:
    told = trained.with_suffix(".err").read_text()
    assert re.search(r"backbone, epoch 10: loss \d\.\d{3}, gate \d+ % open, score \d+\.\d", told)
    assert re.search(r"backbone .* 80/80 ", told)  # the bars, in updates
    assert re.search(r"exits .* 16/16 ", told)
    assert "Loading weights" not in told


def test_without_a_folder_the_same_recipe_finds_its_run_again() -> None:
    mrpc, again, other = (
        default_folder(chosen_recipe(None, None, encoder="e", task="mrpc", seed=seed))
        for seed in (1, 1, 2)
    )
    assert mrpc == again != other
    assert mrpc.parent == Path("runs")
    assert mrpc.name.startswith("mrpc-")
    own = default_folder(chosen_recipe(None, None, encoder="e", train=Path("data/reviews.csv")))
    assert own.name.startswith("reviews-")


def test_the_profile_tells_every_part_of_every_stage(
    exitwise: Run, quick: list[object], tmp_path: Path
) -> None:
    short = ("--set", "regime.backbone.epochs=1", "--set", "regime.exits.epochs=1")
    outcome = exitwise("train", *quick, *short, "-o", tmp_path / "run", "--profile")
    assert outcome.status == 0, outcome.err
    profile = json.loads((tmp_path / "run" / "result.json").read_text())["profile"]
    step = {
        *("data", "forward", "backward: contrastive", "backward: cross-entropy", "gate"),
        *("clipping", "optimiser", "evaluation", "other"),
    }
    assert set(profile["backbone"]) == {"hidden states", *step}
    assert set(profile["exits"]) == {"hidden states", "backward: soft targets", *step}
    for stage, parts in profile.items():
        assert all(seconds >= 0 for seconds in parts.values())
        told = (line.split() for line in outcome.out.splitlines())
        lines = [cells for cells in told if cells[:1] == [stage]]
        assert len(lines) == len(parts) + 1
        assert lines[-1][1:] == ["all", f"{sum(parts.values()):.1f}"]


def test_a_budget_that_is_no_size_is_refused_before_anything_is_written(
    exitwise: Run, quick: list[object], tmp_path: Path
) -> None:
    outcome = exitwise("train", *quick, "-o", tmp_path / "run", "--cache-budget", "much")
    assert outcome.status == 2
    assert "such as 8GB" in outcome.err
    assert not (tmp_path / "run").exists()
