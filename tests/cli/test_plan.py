import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from exitwise.cli.plan import planned_batches
from exitwise.cli.recipe_options import chosen_recipe
from exitwise.data import DataConfig
from exitwise.recipe import Recipe

Run = Callable[..., Any]


@pytest.fixture
def weightless(encoder: Path, tmp_path: Path) -> Path:
    """An encoder's folder that holds its configuration alone: nothing can be trained from it."""
    folder = tmp_path / "weightless"
    folder.mkdir()
    shutil.copy(encoder / "config.json", folder)
    return folder


def test_the_stages_are_printed_without_loading_a_weight(
    exitwise: Run, weightless: Path, labelled: Path, tmp_path: Path
) -> None:
    before = sorted(tmp_path.rglob("*"))
    outcome = exitwise("plan", "--encoder", weightless, "--train", labelled, "--set", "seed=1")
    assert outcome.status == 0
    assert "29 rows in 29 updates of 1 × 1 rows" in outcome.out  # 3 of 32 are for validation
    assert outcome.out.index("stage 1: backbone") < outcome.out.index("stage 2: exits")
    assert "teacher          exit 3" in outcome.out
    assert sorted(tmp_path.rglob("*")) == before


def test_json_holds_every_stage_and_the_sizes_of_an_epoch(
    exitwise: Run, weightless: Path, labelled: Path
) -> None:
    sources = ("--encoder", weightless, "--train", labelled, "--validation", labelled)
    settings = ("--regime", "alternating", "--set", "training.micro_batch=8")
    found = json.loads(exitwise("plan", *sources, *settings, "--json").out)
    assert found["batches"] == {
        "rows": 32,
        "micro_batch": 8,
        "accumulation": 1,
        "updates_per_epoch": 4,
    }
    (stage,) = found["stages"]
    assert stage["schedule"] == [[3], [1, 2, 3]]


def test_a_trained_run_is_planned_upon(exitwise: Run, trained: Path, labelled: Path) -> None:
    arguments = ("--from", trained, "--train", labelled, "--regime", "exits")
    assert "teacher          exit 3" in exitwise("plan", *arguments).out


def test_faults_of_the_data_are_found(exitwise: Run, encoder: Path, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("text,label\ngood,positive\n ,negative\n")
    outcome = exitwise("plan", "-q", "--encoder", encoder, "--train", path)
    assert outcome.status == 2
    assert "row 2" in outcome.err


@pytest.mark.parametrize(("train_rows", "expected"), [(None, 8551), (1000, 1000), (9999, 8551)])
def test_the_size_of_a_task_is_known_without_its_data(
    train_rows: int | None, expected: int
) -> None:
    overrides = [] if train_rows is None else [f"data.train_rows={train_rows}"]
    batches = planned_batches(chosen_recipe(None, overrides, encoder="e", task="cola"))
    assert batches is not None
    assert batches.num_rows == expected


def test_a_data_set_of_the_hub_is_not_fetched_to_count_it() -> None:
    recipe = Recipe(encoder="e", data=DataConfig(hub="nobody/nothing"))
    assert planned_batches(recipe) is None


@pytest.mark.parametrize("command", ["plan", "train"])
@pytest.mark.parametrize(
    ("num_layers", "reason"),
    [(1, "regime: exits below the last need at least 2"), (4, "at most 3")],
)
def test_an_encoder_of_too_few_layers_is_refused(
    exitwise: Run, encoder: Path, labelled: Path, command: str, num_layers: int, reason: str
) -> None:
    sources = ("--encoder", encoder, "--train", labelled)
    outcome = exitwise(command, "-q", *sources, "--set", f"num_layers={num_layers}")
    assert outcome.status == 2
    assert reason in outcome.err


def test_an_encoder_that_nobody_can_walk_is_refused_by_name(
    exitwise: Run, labelled: Path, tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}')
    outcome = exitwise("plan", "-q", "--encoder", tmp_path, "--train", labelled)
    assert outcome.status == 2
    assert "gpt2" in outcome.err
