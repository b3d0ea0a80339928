"""Runs the cells that tables need and that are not done yet."""

import logging
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from exitwise.errors import ExitwiseError
from exitwise.experiments.cell import Cell
from exitwise.experiments.observations import Finished, angles, course, embeddings, observe
from exitwise.experiments.plan import Place, in_order
from exitwise.experiments.store import Store
from exitwise.run import RunFolder, train
from exitwise.training import CacheSettings

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Job:
    """A cell that is to be trained, or looked into, or both.

    Attributes:
        cell: the cell.
        observations: what is not looked up yet.
        is_trained: whether its result is there.
    """

    cell: Cell
    observations: tuple[str, ...]
    is_trained: bool


def jobs(places: Sequence[Place], store: Store, *, retry: bool = False) -> list[Job]:
    """What is missing for some places, in the order in which it is run.

    Args:
        places: of tables.
        store: what is there.
        retry: try again what has failed.
    """
    wanted: dict[str, set[str]] = {}
    for place in places:
        wanted.setdefault(place.cell.key, set())
        if place.observation is not None and not store.has(place.cell.key, place.observation):
            wanted[place.cell.key].add(place.observation)
    found = []
    for cell in in_order(place.cell for place in places):
        job = Job(cell, tuple(sorted(wanted.get(cell.key, ()))), store.has(cell.key))
        has_failed = store.failure(cell.key) is not None and not retry
        if not has_failed and (job.observations or not job.is_trained):
            found.append(job)
    return found


class Runner:
    """Runs jobs one after the other; what is done stays done whenever it is stopped.

    Args:
        store: where results go.
        runs: where cells are trained; a model is let go when nothing needs it any more.
        data_dir: the folder of the tasks' files; `None` for the hub.
        angle_batches: see `Overlay`.
        callbacks: told of the progress of training.
    """

    def __init__(
        self,
        store: Store,
        runs: Path,
        data_dir: str | None,
        *,
        angle_batches: int,
        callbacks: Sequence[TrainerCallback] = (),
    ) -> None:
        self.store = store
        self.runs = runs
        self.data_dir = data_dir
        self._angle_batches = angle_batches
        self._callbacks = callbacks
        self._states = runs / "hidden_states"

    def run(self, wanted: Sequence[Job], started: Callable[[Job], None] = lambda _: None) -> None:
        """Runs the jobs; one that fails is noted and does not stop the others."""
        last_backbone = None
        for number, job in enumerate(wanted):
            backbone = job.cell.backbone and job.cell.backbone.key
            if backbone != last_backbone:
                shutil.rmtree(self._states, ignore_errors=True)  # of another encoder
            last_backbone = backbone
            started(job)
            with self._failures_noted(job):
                self._complete(job)
            self._let_go(job.cell, wanted[number + 1 :])
        shutil.rmtree(self._states, ignore_errors=True)

    def _complete(self, job: Job) -> None:
        cell, key = job.cell, job.cell.key
        if not job.is_trained:
            result = self._train(cell)
            finished = self._finished(cell)
            seen = observe(finished) | course(RunFolder(self.runs / key), result["gates"])
            self.store.write(key, result | {"cell": key, "name": cell.name} | seen)
        for observation in job.observations:
            finished = self._finished(cell)
            kind, _, layer = observation.partition("-")
            found = (
                embeddings(finished, int(layer))
                if kind == "embeddings"
                else angles(finished, self._angle_batches)
            )
            self.store.write(key, found, observation)

    def _finished(self, cell: Cell) -> Finished:
        return Finished.load(cell.placed(self.runs, self.data_dir), str(self._with_model(cell)))

    def _train(self, cell: Cell, *, force: bool = False) -> dict[str, Any]:
        """Trains a cell, from where it was broken off; its recipe is that without places."""
        if cell.backbone is not None:
            self._with_model(cell.backbone)
        cache = CacheSettings(folder=self._states, keep=True, memory=False)
        result = train(
            cell.placed(self.runs, self.data_dir),
            self.runs / cell.key,
            resume=not force,
            force=force,
            callbacks=self._callbacks,
            cache=cache,
        )
        return result | {"recipe": cell.recipe}

    def _with_model(self, cell: Cell) -> Path:
        """The run folder of a cell, trained again if its model is not there any more."""
        folder = self.runs / cell.key
        if not RunFolder(folder).model.exists():
            failure = self.store.failure(cell.key)
            if failure is not None:
                raise ExitwiseError(f"{cell.name} failed: {failure['error']}")
            logger.info("%s is trained again: its model is not in %s", cell.name, self.runs)
            self._train(cell, force=folder.exists())
        return folder

    def _let_go(self, cell: Cell, later: Sequence[Job]) -> None:
        """Removes what no later job reads: a model is a hundred times larger than its result."""
        is_needed = any(
            job.cell.backbone is not None and job.cell.backbone.key == cell.key for job in later
        )
        if not is_needed and cell.backbone is not None:
            shutil.rmtree(self.runs / cell.key, ignore_errors=True)

    @contextmanager
    def _failures_noted(self, job: Job) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # whatever it is: hours of other cells stand behind this one
            logger.warning("%s failed: %s", job.cell.name, error)
            self.store.write_failure(job.cell.key, job.cell.name, error)
