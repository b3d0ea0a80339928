"""Runs the cells that tables need and that are not done yet."""

import logging
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from exitwise.errors import ExitwiseError
from exitwise.experiments.cell import Cell
from exitwise.experiments.jobs import Job
from exitwise.experiments.observations import Finished, angles, course, embeddings, observe
from exitwise.experiments.plan import Place
from exitwise.experiments.runs import Runs
from exitwise.experiments.store import Store
from exitwise.recipe import Recipe
from exitwise.run import train
from exitwise.training import CacheSettings

logger = logging.getLogger(__name__)


class Runner:
    """Runs jobs one after the other; what is done stays done whenever it is stopped.

    Args:
        store: where results go.
        runs: where cells are trained.
        data_dir: the folder of the tasks' files, however it is spelled; `None` for the hub.
        places: of all tables, also of those that are not run now. A model stays while one of
            them may read it.
        angle_batches: see `Overlay`.
        callbacks: told of the progress of training.
    """

    def __init__(
        self,
        store: Store,
        runs: Runs,
        data_dir: Path | None,
        *,
        places: Sequence[Place],
        angle_batches: int,
        callbacks: Sequence[TrainerCallback] = (),
    ) -> None:
        self.store = store
        self.runs = runs
        self._data_dir = None if data_dir is None else str(data_dir.resolve())
        self._places = places
        self._angle_batches = angle_batches
        self._callbacks = callbacks

    def run(self, wanted: Sequence[Job], started: Callable[[Job], None] = lambda _: None) -> None:
        """Runs the jobs; what fails is noted and does not stop the others.

        Raises:
            ExitwiseError: another runner is at work in the folder of runs.
        """
        with self.runs.alone():
            self._run(wanted, started)

    def _run(self, wanted: Sequence[Job], started: Callable[[Job], None]) -> None:
        self._let_go()  # what a stop has left
        last_backbone = None
        for job in wanted:
            backbone = job.cell.backbone and job.cell.backbone.key
            if backbone != last_backbone:
                shutil.rmtree(self.runs.hidden_states, ignore_errors=True)  # of another encoder
            last_backbone = backbone
            started(job)
            self._complete(job)
            self._let_go()
        shutil.rmtree(self.runs.hidden_states, ignore_errors=True)

    def _complete(self, job: Job) -> None:
        cell = job.cell
        if not self.store.has(cell.key):
            with self._failures_noted(cell):
                self._find_result(cell)
        for observation in job.observations if self.store.has(cell.key) else ():
            with self._failures_noted(cell, observation):
                self._look_up(cell, observation)

    def _find_result(self, cell: Cell) -> None:
        result = self._train(cell)
        seen = observe(self._finished(cell)) | course(self.runs.of(cell), result["gates"])
        self.store.write(cell.key, result | {"cell": cell.key, "name": cell.name} | seen)

    def _look_up(self, cell: Cell, observation: str) -> None:
        finished = self._finished(cell)
        kind, _, layer = observation.partition("-")
        found = (
            embeddings(finished, int(layer))
            if kind == "embeddings"
            else angles(finished, self._angle_batches)
        )
        self.store.write(cell.key, found, observation)

    def _finished(self, cell: Cell) -> Finished:
        self._provide_model(cell)
        return Finished.load(self._placed(cell), str(self.runs.of(cell).path))

    def _train(self, cell: Cell) -> dict[str, Any]:
        """Trains a cell, from where it was broken off; its recipe is that without places."""
        if cell.backbone is not None:
            self._provide_model(cell.backbone)
        recipe = self._placed(cell)
        self.runs.keep_resumable(cell, recipe)
        result = train(
            recipe,
            self.runs.of(cell).path,
            resume=True,
            callbacks=self._callbacks,
            cache=CacheSettings(folder=self.runs.hidden_states, keep=True, memory=False),
        )
        return result | {"recipe": cell.recipe, "recipe_hash": cell.key}

    def _provide_model(self, cell: Cell) -> None:
        """Trains a cell again if its model is not there any more."""
        if self.runs.has_model(cell):
            return
        failure = self.store.failure(cell.key)
        if failure is not None:
            raise ExitwiseError(f"{cell.name} failed: {failure['error']}")
        logger.info("%s is trained again: its model is not in %s", cell.name, self.runs.folder)
        self._train(cell)

    def _placed(self, cell: Cell) -> Recipe:
        return cell.placed(self.runs.folder, self._data_dir)

    def _let_go(self) -> None:
        """Removes the models that no table reads any more.

        A model takes a hundred times the disk of its result. Two kinds stay: those in which
        something is still to be looked up, and those from which rows start, even if all these
        rows are done. They are few, and a row that is added to a table then costs its own
        training alone. What is removed by hand is trained again where it is needed.
        """
        backbones = [place.cell.backbone for place in self._places]
        read = {cell.key for cell in backbones if cell is not None}
        read |= {
            place.cell.key
            for place in self._places
            if place.observation and not self.store.has(place.cell.key, place.observation)
        }
        for place in self._places:
            if place.cell.key not in read and self.store.has(place.cell.key):
                self.runs.remove(place.cell)

    @contextmanager
    def _failures_noted(self, cell: Cell, observation: str | None = None) -> Iterator[None]:
        name = cell.name if observation is None else f"{cell.name}, {observation}"
        try:
            yield
        except Exception as error:  # whatever it is: hours of other cells stand behind this one
            logger.warning("%s failed: %s", name, error)
            self.store.write_failure(cell.key, name, error, observation)
