"""A frozen stage reads hidden states from memory, from disk, or computes them; all end alike."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from exitwise.recipe import Recipe
from exitwise.run import train
from exitwise.training import CacheSettings, MultiExitTrainer

MakeRecipe = Callable[..., Recipe]


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exitwise.training.cache_place.SHARE_OF_MEMORY", 0.0)


def no_dropout(make_recipe: MakeRecipe) -> Recipe:
    return make_recipe("exit.dropout=0.0")


def weights(run: Path) -> dict[str, torch.Tensor]:
    return load_file(run / "model" / "model.safetensors")


def test_memory_disk_and_recomputing_train_the_same_exits(
    make_recipe: MakeRecipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = no_dropout(make_recipe)
    train(recipe, tmp_path / "memory")
    train(recipe, tmp_path / "anew", cache=CacheSettings(budget=0))
    monkeypatch.setattr("exitwise.training.cache_place.SHARE_OF_MEMORY", 0.0)
    train(recipe, tmp_path / "disk")
    memory, anew, disk = (weights(tmp_path / name) for name in ("memory", "anew", "disk"))
    for name, tensor in memory.items():
        assert torch.equal(tensor, disk[name])
        if not name.endswith("key.bias"):  # its true gradient is 0; AdamW enlarges the rounding
            torch.testing.assert_close(tensor, anew[name], rtol=1e-4, atol=1e-5)


@pytest.mark.usefixtures("little_memory")
def test_files_go_when_the_stage_ends_unless_they_are_kept(
    make_recipe: MakeRecipe, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    recipe, shared = no_dropout(make_recipe), tmp_path / "shared"
    with caplog.at_level(logging.INFO, "exitwise"):
        train(recipe, tmp_path / "gone")
    assert any("are kept in" in line and "hidden_states" in line for line in caplog.messages)
    assert not (tmp_path / "gone" / "hidden_states").exists()
    cache = CacheSettings(folder=shared, keep=True)
    train(recipe, tmp_path / "kept", cache=cache)
    before = {file.name: file.stat().st_mtime_ns for file in shared.iterdir()}
    assert len(before) == 2
    train(recipe, tmp_path / "again", cache=cache)  # the same backbone: nothing is computed
    assert {file.name: file.stat().st_mtime_ns for file in shared.iterdir()} == before
    assert all(
        torch.equal(tensor, weights(tmp_path / "again")[name])
        for name, tensor in weights(tmp_path / "kept").items()
    )


@pytest.mark.usefixtures("little_memory")
def test_a_disk_that_fails_costs_time_and_not_the_run(
    make_recipe: MakeRecipe,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("exitwise.training.cache_file.claim", broken)
    with caplog.at_level(logging.WARNING, "exitwise"):
        train(no_dropout(make_recipe), tmp_path / "run")
    assert any("in each epoch after all" in line for line in caplog.messages)
    assert (tmp_path / "run" / "result.json").exists()


@pytest.mark.usefixtures("little_memory")
def test_a_stage_that_is_broken_off_finds_its_states_again(
    make_recipe: MakeRecipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe, run = no_dropout(make_recipe), tmp_path / "run"
    whole = MultiExitTrainer.train

    def killed_in_stage_two(trainer: MultiExitTrainer, **settings: Any) -> Any:
        if trainer.stage.freeze_encoder:
            raise KeyboardInterrupt
        return whole(trainer, **settings)

    def computed(*_: Any) -> None:
        pytest.fail("the encoder ran again")

    with monkeypatch.context() as patch:
        patch.setattr(MultiExitTrainer, "train", killed_in_stage_two)
        with pytest.raises(KeyboardInterrupt):
            train(recipe, run)
    assert len(list((run / "hidden_states").iterdir())) == 2
    with monkeypatch.context() as patch:
        patch.setattr("exitwise.training.hidden_states.hidden_states_of", computed)
        train(recipe, run, resume=True)
    assert not (run / "hidden_states").exists()
