"""Where the experiments of the repository are, and a place to run them at the smallest scale."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from transformers import TrainerCallback

from exitwise.experiments import Experiments, Job, Place, Runner, Runs, Store

EXPERIMENTS = Path(__file__).parents[2] / "experiments"


@pytest.fixture
def experiments(tiny_path: str) -> Experiments:
    """All tables, at the scale `smoke`."""
    return Experiments.read(EXPERIMENTS, "smoke").narrowed(
        encoders={"bert": tiny_path, "roberta": tiny_path}
    )


class Bench(TrainerCallback):
    """A store, a folder of runs and the tiny tasks.

    Attributes:
        trained: the key of each cell whose training was begun or gone on with.
        resumed: those that went on from a checkpoint.
    """

    def __init__(self, folder: Path, data_dir: Path, places: Sequence[Place]) -> None:
        self.store = Store(folder / "results")
        self.runs = folder / "runs"
        self.data_dir = data_dir
        self.places = places
        self.trained: list[str] = []
        self.resumed: list[str] = []

    def run(self, wanted: Sequence[Job], *callbacks: TrainerCallback) -> None:
        """Runs jobs as a new call of the command does."""
        runner = Runner(
            self.store,
            Runs(self.runs),
            self.data_dir,
            places=self.places,
            angle_batches=2,
            callbacks=[self, *callbacks],
        )
        runner.run(wanted)

    def models(self) -> set[str]:
        """The names of all folders that hold runs, or what is left of them."""
        return {path.name for path in self.runs.iterdir() if path.is_dir()}

    def on_train_begin(self, args: Any, state: Any, control: Any, **settings: Any) -> None:
        """Notes the cell, by its folder `KEY/checkpoints/STAGE`."""
        key = Path(args.output_dir).parts[-3]
        self.trained.append(key)
        if state.global_step > 0:
            self.resumed.append(key)


@pytest.fixture
def bench(tmp_path: Path, tiny_glue: Path, experiments: Experiments) -> Bench:
    """An empty one."""
    return Bench(tmp_path, tiny_glue, list(experiments.places()))
