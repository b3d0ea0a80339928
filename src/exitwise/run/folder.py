"""The run folder: what a training run leaves, never half-written and never overwritten unasked.

recipe.toml         the recipe, all defaults resolved
train_rows.txt      what the rows that its model has learned from are known by again, those of the
                    run that it started from among them
environment.json    versions, machine and commit
train.log           what was chosen and what happened
metrics.jsonl       the scores of each exit after each epoch
gates/STAGE.jsonl   angle and decision of every batch
checkpoints/        while it runs: the Trainer's checkpoints, finished stages, time spent and what
                    the training set is known by again
hidden_states/      of a frozen encoder, while a stage runs that cannot keep them in memory
model/              the classifier, with its tokenizer
result.json         the scores at the end; it is written last
"""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from exitwise.errors import ExitwiseError, RecipeError
from exitwise.recipe import Recipe, dumps_toml, read_toml, to_plain
from exitwise.whole_files import remove_folder, write_text


class RunFolder:
    """Paths and states of one run.

    Args:
        path: the folder, existing or not.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.recipe = path / "recipe.toml"
        self.train_rows = path / "train_rows.txt"
        self.environment = path / "environment.json"
        self.log = path / "train.log"
        self.metrics = path / "metrics.jsonl"
        self.checkpoints = path / "checkpoints"
        self.seconds = self.checkpoints / "seconds.json"
        self.fingerprint = self.checkpoints / "train_data.txt"
        self.hidden_states = path / "hidden_states"
        self.model = path / "model"
        self.result = path / "result.json"

    @property
    def is_finished(self) -> bool:
        """Whether the run has come to its end."""
        return self.result.exists()

    def can_go_on(self, recipe: Recipe) -> bool:
        """Whether it is a run of this recipe, and one that has ended still holds its model."""
        is_whole = self.model.exists() or not self.is_finished
        return self.recipe.exists() and is_whole and not self._changes(recipe)

    def check(self, recipe: Recipe, *, resume: bool, force: bool) -> None:
        """Whether the folder may be used; changes nothing.

        Raises:
            ExitwiseError: there is something already and neither flag says what to do with it,
                or it is no run.
            RecipeError: the run to resume was made by another recipe.
        """
        if self.path.is_file() or (self._is_used() and not self.recipe.exists()):
            raise ExitwiseError(f"{self.path} exists and is no run: choose another folder")
        if self._is_used() and not (resume or force):
            raise ExitwiseError(
                f"{self.path} exists: --resume goes on with it, --force starts it again"
            )
        if self.recipe.exists() and resume:
            self._check_recipe(recipe)

    def check_data(self, fingerprint: str) -> None:
        """Whether a run that is resumed would go on with the data that it was begun with.

        Raises:
            ExitwiseError: rows, labels or their order are others.
        """
        if self.fingerprint.exists() and self.fingerprint.read_text() != fingerprint:
            raise ExitwiseError(
                f"{self.path} was begun with other training data: resume it with those, or start "
                "it again with --force"
            )

    def open(self, recipe: Recipe, fingerprint: str, *, resume: bool) -> None:
        """Makes the folder, after both checks; what it holds stays only if the run is resumed."""
        if resume and self.recipe.exists():
            return
        if self._is_used():
            remove_folder(self.path)
        self.checkpoints.mkdir(parents=True, exist_ok=True)
        write_text(self.recipe, dumps_toml(to_plain(recipe)))
        write_text(self.fingerprint, fingerprint)

    def read_result(self) -> dict[str, Any]:
        """What a run that has ended wrote last."""
        result: dict[str, Any] = json.loads(self.result.read_text(encoding="utf-8"))
        return result

    def read_train_rows(self) -> set[str] | None:
        """The hashes of the rows that the model has learned from; `None` if they are not known."""
        if not self.train_rows.exists():
            return None
        return set(self.train_rows.read_text(encoding="ascii").split())

    def gates(self, stage: str) -> Path:
        """Where the decisions of a stage are kept."""
        folder = self.path / "gates"
        folder.mkdir(exist_ok=True)
        return folder / f"{stage}.jsonl"

    def stage_checkpoints(self, stage: str) -> Path:
        """Where the Trainer puts the checkpoints of a stage."""
        return self.checkpoints / stage

    def finished_stage(self, stage: str) -> Path:
        """The model as a finished stage left it; does not exist before."""
        return self.stage_checkpoints(stage) / "finished"

    def last_checkpoint(self, stage: str) -> Path | None:
        """The Trainer's newest whole checkpoint of a stage that was broken off."""
        found = [
            path
            for path in self.stage_checkpoints(stage).glob("checkpoint-*")
            if (path / "trainer_state.json").exists()
        ]
        return max(found, key=lambda path: int(path.name.split("-")[1]), default=None)

    def write_result(self, result: Mapping[str, object]) -> None:
        """Ends the run: writes the result and lets go of the checkpoints."""
        write_text(self.result, json.dumps(result, indent=2, ensure_ascii=False) + "\n")
        shutil.rmtree(self.checkpoints, ignore_errors=True)

    def _is_used(self) -> bool:
        return self.path.is_dir() and any(self.path.iterdir())

    def _check_recipe(self, recipe: Recipe) -> None:
        changed = self._changes(recipe)
        if changed:
            raise RecipeError(
                f"{self.path} was begun with another recipe (changed: {', '.join(changed)}): "
                f"resume it with its own, {self.recipe}, or choose another folder"
            )

    def _changes(self, recipe: Recipe) -> list[str]:
        before, now = flat(read_toml(self.recipe)), flat(to_plain(recipe))
        return sorted(key for key in before.keys() | now.keys() if before.get(key) != now.get(key))


def run_of(model: Path | str) -> RunFolder:
    """The run that a model is of: named by its own folder, or by that of the model in it."""
    folder = Path(model).resolve()
    above = RunFolder(folder.parent)
    return above if above.model == folder else RunFolder(folder)


def flat(table: Mapping[str, object], path: str = "") -> dict[str, object]:
    """Nested tables as one, by dotted keys.

    >>> flat({"seed": 1, "exit": {"kind": "mha"}})
    {'seed': 1, 'exit.kind': 'mha'}
    """
    items: dict[str, object] = {}
    for key, value in table.items():
        name = f"{path}.{key}" if path else key
        items |= flat(value, name) if isinstance(value, Mapping) else {name: value}
    return items
