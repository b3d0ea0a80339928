"""Whenever one stops, the same command completes everything and trains nothing twice."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from transformers import TrainerCallback

from exitwise.experiments import Cell, Experiments, Place, jobs, runner

from .conftest import Bench


class Stop(TrainerCallback):
    """Stops when a cell's only stage is trained, after its checkpoint."""

    def __init__(self, cell: Cell) -> None:
        self.key = cell.key

    def on_train_end(self, args: Any, state: Any, control: Any, **settings: Any) -> None:
        if self.key in Path(args.output_dir).parts:
            raise KeyboardInterrupt


def stop(*_: object, **settings: object) -> None:
    raise KeyboardInterrupt


def rows(experiments: Experiments, table: str, *names: str) -> list[Place]:
    return [place for place in experiments.places([table]) if place.row.name in names]


@pytest.fixture
def two_stages(experiments: Experiments) -> list[Place]:
    """A row that starts from a backbone."""
    return rows(experiments, "table2", "(e) 2ST")


def cells(places: list[Place]) -> tuple[Cell, Cell]:
    """The backbone and what starts from it."""
    cell = places[0].cell
    assert cell.backbone is not None
    return cell.backbone, cell


def complete(bench: Bench, places: list[Place]) -> None:
    """Runs the rest, which ends without failure."""
    bench.trained, bench.resumed = [], []
    bench.run(jobs(places, bench.store))
    assert list(bench.store.folder.glob("*.failed.json")) == []
    assert jobs(places, bench.store) == []


def test_a_cell_stopped_in_training_goes_on_from_its_checkpoint(
    two_stages: list[Place], bench: Bench
) -> None:
    backbone, cell = cells(two_stages)
    with pytest.raises(KeyboardInterrupt):
        bench.run(jobs(two_stages, bench.store), Stop(backbone))
    with pytest.raises(KeyboardInterrupt):
        bench.run(jobs(two_stages, bench.store), Stop(cell))
    assert bench.resumed == [backbone.key]
    complete(bench, two_stages)
    assert bench.trained == bench.resumed == [cell.key]


@pytest.mark.parametrize("what", [0, 1])
def test_a_stopped_cell_goes_on_though_the_folders_are_spelled_otherwise(
    what: int, two_stages: list[Place], bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = cells(two_stages)[what]
    with pytest.raises(KeyboardInterrupt):
        bench.run(jobs(two_stages, bench.store), Stop(stopped))
    monkeypatch.chdir(bench.data_dir)
    bench.data_dir, bench.runs = Path(), bench.runs / ".." / bench.runs.name
    complete(bench, two_stages)
    assert bench.resumed == [stopped.key]


@pytest.mark.parametrize("what", [0, 1])
def test_a_stopped_cell_is_begun_anew_with_data_from_another_place(
    what: int, two_stages: list[Place], bench: Bench, tmp_path: Path
) -> None:
    stopped = cells(two_stages)[what]
    with pytest.raises(KeyboardInterrupt):
        bench.run(jobs(two_stages, bench.store), Stop(stopped))
    bench.data_dir = Path(shutil.copytree(bench.data_dir, tmp_path / "copy"))
    complete(bench, two_stages)
    assert bench.trained[0] == stopped.key
    assert bench.resumed == []


def test_a_cell_stopped_between_training_and_result_is_not_trained_again(
    two_stages: list[Place], bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(runner, "observe", stop)
        bench.run(jobs(two_stages, bench.store))
    backbone, cell = cells(two_stages)
    assert bench.trained == [backbone.key]
    complete(bench, two_stages)
    assert bench.trained == [cell.key]


def test_a_cell_stopped_between_result_and_observation_is_only_looked_into(
    experiments: Experiments, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = rows(experiments, "figure2", "A: CE")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(runner, "angles", stop)
        bench.run(jobs(places, bench.store))
    assert bench.store.has(places[0].cell.key)
    complete(bench, places)
    assert bench.trained == []


@pytest.mark.parametrize("lost", ["recipe.toml", "model"])
def test_a_run_without_recipe_or_model_is_begun_anew(
    lost: str, two_stages: list[Place], bench: Bench
) -> None:
    backbone, cell = cells(two_stages)
    bench.run(jobs(two_stages, bench.store)[:1])
    path = bench.runs / backbone.key / lost
    (shutil.rmtree if path.is_dir() else Path.unlink)(path)
    (bench.store.folder / f"{backbone.key}.json").unlink()
    complete(bench, two_stages)
    assert bench.trained == [backbone.key, cell.key]


def test_a_backbone_that_is_trained_again_goes_on_when_that_is_stopped(
    two_stages: list[Place], bench: Bench
) -> None:
    backbone, cell = cells(two_stages)
    bench.run(jobs(two_stages, bench.store)[:1])
    shutil.rmtree(bench.runs / backbone.key / "model")
    with pytest.raises(KeyboardInterrupt):
        bench.run(jobs(two_stages, bench.store), Stop(backbone))
    complete(bench, two_stages)
    assert bench.resumed == [backbone.key]
    assert bench.trained == [backbone.key, cell.key]


def test_a_stop_while_a_model_is_let_go_leaves_no_part_of_it(
    two_stages: list[Place], bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    backbone, cell = cells(two_stages)

    def stopped_half_way(path: Path, **settings: object) -> None:
        if path.exists() and cell.key in path.name:
            (path / "recipe.toml").unlink()
            raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(shutil, "rmtree", stopped_half_way)
        bench.run(jobs(two_stages, bench.store))
    assert not (bench.runs / cell.key).exists()
    complete(bench, two_stages)
    assert bench.trained == []
    assert bench.models() == {backbone.key}


def test_a_stop_before_a_model_is_let_go_leaves_it_to_the_next_call(
    two_stages: list[Place], bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    backbone, cell = cells(two_stages)
    rename = Path.rename

    def stopped(path: Path, target: Path) -> Path:
        if path.name == cell.key:
            raise KeyboardInterrupt
        return rename(path, target)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, "rename", stopped)
        bench.run(jobs(two_stages, bench.store))
    assert bench.models() == {backbone.key, cell.key, "hidden_states"}
    complete(bench, two_stages)
    assert bench.trained == []
    assert bench.models() == {backbone.key}
