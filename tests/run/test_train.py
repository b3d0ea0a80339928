"""One call trains all stages; nothing is lost, overwritten or half-written."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from transformers import TrainerCallback

from exitwise.errors import DataError, ExitwiseError, RecipeError
from exitwise.modeling import MultiExitForSequenceClassification
from exitwise.recipe import Recipe, from_plain, read_toml, recipe_hash
from exitwise.run import RunFolder, run_of, train

MakeRecipe = Callable[..., Recipe]


def weights(run: Path) -> dict[str, torch.Tensor]:
    return load_file(run / "model" / "model.safetensors")


def same(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> list[str]:
    assert first.keys() == second.keys()
    return [name for name in first if torch.equal(first[name], second[name])]


class BreakOff(TrainerCallback):
    """Dies at the end of an epoch of a stage, as a machine may, after its checkpoint."""

    def __init__(self, stage: str, epoch: int) -> None:
        self.stage, self.epoch = stage, epoch

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **settings: Any) -> None:
        if Path(args.output_dir).name == self.stage and round(state.epoch) == self.epoch:
            raise KeyboardInterrupt


@pytest.mark.field_case(49)
def test_one_call_runs_both_stages_and_leaves_a_whole_folder(
    make_recipe: MakeRecipe, tmp_path: Path
) -> None:
    recipe, run = make_recipe(), tmp_path / "run"
    result = train(recipe, run)
    assert {path.name for path in run.iterdir()} == {
        "recipe.toml",
        "environment.json",
        "train_rows.txt",
        "train.log",
        "metrics.jsonl",
        "gates",
        "model",
        "result.json",
    }
    assert from_plain(Recipe, read_toml(run / "recipe.toml")) == recipe
    assert result == json.loads((run / "result.json").read_text())
    assert result["recipe_hash"] == recipe_hash(recipe)
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert [(line["stage"], line["epoch"]) for line in lines] == [
        ("backbone", 1),
        ("backbone", 2),
        ("exits", 1),
        ("exits", 2),
    ]
    assert [sorted(line["exits"]) for line in lines] == [
        ["3"],
        ["3"],
        ["1", "2", "3"],
        ["1", "2", "3"],
    ]
    assert set(result["gates"]["exits"]) == {"exit_1", "exit_2"}
    assert result["gates"]["backbone"]["all"]["decisions"] == 8


def test_the_scores_at_the_end_are_those_of_the_last_epoch(
    make_recipe: MakeRecipe, tmp_path: Path
) -> None:
    result = train(make_recipe(), tmp_path / "run")
    last = json.loads((tmp_path / "run" / "metrics.jsonl").read_text().splitlines()[-1])
    scores = result["scores"]["validation"]["exits"]
    assert {layer: each["score"] for layer, each in scores.items()} == {
        layer: each["score"] for layer, each in last["exits"].items()
    }
    assert result["scores"]["validation"]["majority"] == {"score": 50.0, "accuracy": 50.0}


@pytest.mark.field_case(51)
def test_a_recipe_run_twice_gives_the_same_bits(make_recipe: MakeRecipe, tmp_path: Path) -> None:
    for name in ("one", "two"):
        train(make_recipe(), tmp_path / name)
    one, two = weights(tmp_path / "one"), weights(tmp_path / "two")
    assert len(same(one, two)) == len(one)


@pytest.mark.parametrize(("stage", "epoch"), [("backbone", 1), ("exits", 0), ("exits", 1)])
def test_a_run_broken_off_goes_on_to_the_same_bits(
    stage: str, epoch: int, make_recipe: MakeRecipe, tmp_path: Path
) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    train(make_recipe(), whole)
    with pytest.raises(KeyboardInterrupt):
        train(make_recipe(), broken, callbacks=[BreakOff(stage, epoch)])
    assert not (broken / "model").exists()
    train(make_recipe(), broken, resume=True)
    assert len(same(weights(whole), weights(broken))) == len(weights(whole))
    for name in ("metrics.jsonl", "gates/backbone.jsonl", "gates/exits.jsonl"):
        assert (broken / name).read_text() == (whole / name).read_text()


def test_the_seconds_of_a_resumed_run_are_those_of_all_its_sessions(
    make_recipe: MakeRecipe, tmp_path: Path
) -> None:
    recipe, run = make_recipe(), tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        train(recipe, run, callbacks=[BreakOff("exits", 1)])
    file = RunFolder(run).seconds
    before = json.loads(file.read_text())
    assert 0 < before["exits"] < before["all"]
    file.write_text(json.dumps({name: each + 1000 for name, each in before.items()}))
    seconds = train(recipe, run, resume=True)["seconds"]
    assert seconds.keys() == {"backbone", "exits", "all"}
    assert all(1000 < each < 2000 for each in seconds.values())
    assert seconds["all"] > 1000 + before["all"]


def test_the_time_of_a_run_is_known_with_each_checkpoint(
    make_recipe: MakeRecipe, tmp_path: Path
) -> None:
    file = RunFolder(tmp_path / "run").seconds
    found: list[dict[str, float]] = []

    class Look(TrainerCallback):
        """Reads what a kill at this moment would leave."""

        def on_epoch_begin(self, args: Any, state: Any, control: Any, **settings: Any) -> None:
            found.append(json.loads(file.read_text()) if file.exists() else {})

    train(make_recipe(), tmp_path / "run", callbacks=[Look()])
    assert [sorted(each) for each in found] == [
        [],
        ["all", "backbone"],
        ["all", "backbone"],
        ["all", "backbone", "exits"],
    ]
    assert found[1]["backbone"] < found[2]["backbone"]


def test_a_run_that_ended_is_left_as_it_is(make_recipe: MakeRecipe, tmp_path: Path) -> None:
    run = tmp_path / "run"
    result = train(make_recipe(), run)
    before = (run / "model" / "model.safetensors").stat().st_mtime_ns
    with pytest.raises(ExitwiseError, match=r"exists: --resume goes on with it, --force"):
        train(make_recipe(), run)
    assert train(make_recipe(), run, resume=True) == result
    assert (run / "model" / "model.safetensors").stat().st_mtime_ns == before


def test_force_starts_again(make_recipe: MakeRecipe, tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(make_recipe(), run)
    result = train(make_recipe("seed=7"), run, force=True)
    assert result["recipe"]["seed"] == 7
    assert len((run / "metrics.jsonl").read_text().splitlines()) == 4


def test_a_folder_that_is_no_run_is_never_touched(make_recipe: MakeRecipe, tmp_path: Path) -> None:
    folder = tmp_path / "thesis"
    folder.mkdir()
    (folder / "chapter.txt").write_text("years of work")
    for flags in ({}, {"force": True}, {"resume": True}):
        with pytest.raises(ExitwiseError, match="is no run: choose another folder"):
            train(make_recipe(), folder, **flags)
    assert (folder / "chapter.txt").read_text() == "years of work"


def test_resuming_with_another_recipe_names_what_changed(
    make_recipe: MakeRecipe, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    train(make_recipe(), run)
    with pytest.raises(RecipeError, match=r"changed: regime\.exits\.epochs, seed"):
        train(make_recipe("seed=7", "regime.exits.epochs=3"), run, resume=True)


@pytest.mark.parametrize("change", ["a row more", "another label", "another order"])
def test_resuming_with_other_data_is_refused(
    change: str, make_recipe: MakeRecipe, tmp_path: Path
) -> None:
    run, file = tmp_path / "run", tmp_path / "train.csv"
    with pytest.raises(KeyboardInterrupt):
        train(make_recipe(), run, callbacks=[BreakOff("backbone", 1)])
    before = file.read_text()
    head, first, *rest = before.splitlines()
    text, _, label = first.rpartition(",")
    changed = {
        "a row more": [first, *rest, first],
        "another label": [f"{text},{'good' if label == 'bad' else 'bad'}", *rest],
        "another order": [*rest, first],
    }
    file.write_text("\n".join([head, *changed[change]]) + "\n")
    with pytest.raises(ExitwiseError, match="was begun with other training data"):
        train(make_recipe(), run, resume=True)
    file.write_text(before)
    assert train(make_recipe(), run, resume=True)["scores"]


def test_bad_data_are_found_before_anything_is_written(
    make_recipe: MakeRecipe, tmp_path: Path
) -> None:
    (tmp_path / "train.csv").write_text("text,label\na good film,good\n")
    with pytest.raises(DataError):
        train(make_recipe(), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_exits_can_be_put_on_a_finished_run(make_recipe: MakeRecipe, tmp_path: Path) -> None:
    train(make_recipe("regime=single_exit", "regime.epochs=1"), tmp_path / "backbone")
    first = MultiExitForSequenceClassification.from_pretrained(tmp_path / "backbone" / "model")
    assert first.exit_layers == (3,)
    overrides = [
        f"start_from={tmp_path / 'backbone'}",
        "regime=exits",
        "regime.epochs=1",
        "regime.objective.auxiliary=none",
        "regime.objective.gate=none",
        "exit=linear",
    ]
    train(make_recipe(*overrides, without=("encoder", "exit")), tmp_path / "exits")
    second = MultiExitForSequenceClassification.from_pretrained(tmp_path / "exits" / "model")
    assert second.exit_layers == (1, 2, 3)
    kept = {name: each for name, each in first.state_dict().items() if name.startswith("encoder.")}
    kept |= {f"exits.3.{name}": each for name, each in first.exit(3).state_dict().items()}
    after = second.state_dict()
    assert all(torch.equal(after[name], each) for name, each in kept.items())


def test_labels_that_the_start_does_not_know_are_refused(
    make_recipe: MakeRecipe, tmp_path: Path
) -> None:
    train(make_recipe("regime=single_exit", "regime.epochs=1"), tmp_path / "run")
    rows = (tmp_path / "train.csv").read_text().replace(",good", ",fine")
    for name in ("train.csv", "dev.csv"):
        (tmp_path / name).write_text(rows)
    recipe = make_recipe(
        f"start_from={tmp_path / 'run'}", "regime=exits", without=("encoder", "exit")
    )
    with pytest.raises(
        ExitwiseError, match="answers bad, good, the data have the labels bad, fine"
    ):
        train(recipe, tmp_path / "exits")


@pytest.mark.field_case(55)
def test_a_test_set_without_labels_is_answered_and_not_scored(
    make_recipe: MakeRecipe, tmp_path: Path
) -> None:
    (tmp_path / "test.csv").write_text("text\na good film\na bad plot\n")
    result = train(make_recipe(f"data.test={tmp_path / 'test.csv'}"), tmp_path / "run")
    assert result["scores"]["test"] == {"rows": 2, "labelled": 0, "exits": {}}


def test_the_best_epoch_can_be_kept(make_recipe: MakeRecipe, tmp_path: Path) -> None:
    recipe = make_recipe(
        "training.checkpoint=best",
        "regime=single_exit",
        "regime.epochs=4",
        "regime.learning_rate=0.3",  # so that epochs differ
    )
    result = train(recipe, tmp_path / "run")
    lines = [
        json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    ]
    best = max(line["exits"]["3"]["score"] for line in lines)
    assert result["scores"]["validation"]["exits"]["3"]["score"] == best


def test_training_can_stop_when_it_no_longer_helps(make_recipe: MakeRecipe, tmp_path: Path) -> None:
    recipe = make_recipe(
        "training.checkpoint=best",
        "training.early_stopping=1",
        "regime=single_exit",
        "regime.epochs=9",
        "regime.learning_rate=1e-9",
    )
    train(recipe, tmp_path / "run")
    assert len((tmp_path / "run" / "metrics.jsonl").read_text().splitlines()) == 2


@pytest.mark.field_case(32)
def test_classes_can_be_balanced_and_weighted(make_recipe: MakeRecipe, tmp_path: Path) -> None:
    recipe = make_recipe("data.balanced_sampling=true", "training.class_weights=true")
    result = train(recipe, tmp_path / "run")
    assert set(result["scores"]["validation"]["classes"]) == {"bad", "good"}


def test_exits_too_wide_for_their_teacher_are_refused_before_training(
    make_recipe: MakeRecipe, tmp_path: Path
) -> None:
    train(make_recipe("regime=single_exit", "regime.epochs=1"), tmp_path / "run")
    begin = f"start_from={tmp_path / 'run'}"
    recipe = make_recipe(begin, "regime=exits", "exit.width=4", without=("encoder",))
    with pytest.raises(
        RecipeError, match=r"exit 1, of width 4, with exit 3, of width 8: .*width=8"
    ):
        train(recipe, tmp_path / "next")
    assert not (tmp_path / "next").exists()
    aligned = "regime.objective.auxiliary=aligned"
    recipe = make_recipe(
        begin, "regime=exits", "exit.width=4", aligned, "regime.epochs=1", without=("encoder",)
    )
    train(recipe, tmp_path / "next")


@pytest.mark.field_case(14)
def test_a_run_remembers_what_the_run_before_it_learned_from(
    make_recipe: MakeRecipe, tmp_path: Path
) -> None:
    train(make_recipe("regime.exits.epochs=1", "regime.backbone.epochs=1"), tmp_path / "run")
    (tmp_path / "train.csv").write_text("text,label\na new film,good\na new plot,bad\n")
    begin = f"start_from={tmp_path / 'run' / 'model'}"
    train(make_recipe(begin, "regime=exits", without=("encoder",)), tmp_path / "next")
    before, after = (run_of(tmp_path / name).read_train_rows() for name in ("run", "next/model"))
    assert before is not None
    assert after is not None
    assert before < after
    assert len(after - before) == 2
