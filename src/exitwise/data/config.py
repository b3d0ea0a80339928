"""Which data a run uses, as part of its recipe."""

from dataclasses import dataclass
from typing import get_args

from exitwise.bounds import check_at_least
from exitwise.data.tasks import TASKS
from exitwise.metrics import Metric


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """One of a task, files, or a hub data set; and how its rows are read.

    Attributes:
        task: a task of GLUE.
        data_dir: a folder with `TASK/SPLIT.parquet`, instead of the hub.
        hub: the name of a data set on the hub, `owner/name` or `owner/name:config`.
        train: a file of labelled texts.
        validation: a file as `train`; without it, a part of the training rows.
        test: a file as `train`, with labels or without.
        text_column: of the texts; guessed if not given.
        pair_column: of the second texts.
        label_column: of the labels.
        metric: what counts; a task's own, else accuracy.
        max_length: tokens of a text; the rest is cut.
        train_rows: so many rows of the training set, drawn by seed with its shares of classes.
        validation_fraction: of the training rows, where there is no validation set.
        balanced_sampling: show every class equally often.
    """

    task: str | None = None
    data_dir: str | None = None
    hub: str | None = None
    train: str | None = None
    validation: str | None = None
    test: str | None = None
    text_column: str | None = None
    pair_column: str | None = None
    label_column: str | None = None
    metric: str | None = None
    max_length: int = 128
    train_rows: int | None = None
    validation_fraction: float = 0.1
    balanced_sampling: bool = False

    def __post_init__(self) -> None:
        self._check_source()
        if self.task is not None and self.task not in TASKS:
            raise ValueError(f"task must be one of {', '.join(TASKS)}, found {self.task!r}")
        if self.metric is not None and self.metric not in get_args(Metric):
            known = ", ".join(get_args(Metric))
            raise ValueError(f"metric must be one of {known}, found {self.metric!r}")
        check_at_least(3, self, "max_length")
        check_at_least(2, self, "train_rows")
        if not 0 < self.validation_fraction < 1:
            raise ValueError(
                f"validation_fraction must be between 0 and 1, found {self.validation_fraction}"
            )

    def _check_source(self) -> None:
        sources = {"task": self.task, "train": self.train, "hub": self.hub}
        given = [name for name, value in sources.items() if value is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none"
            raise ValueError(f"give a task, a train file or a hub data set, found {found}")
        for name in ("validation", "test"):
            if getattr(self, name) is not None and self.train is None:
                raise ValueError(f"{name} is a file beside a train file, not beside a {given[0]}")
        if self.data_dir is not None and self.task is None:
            raise ValueError("data_dir holds the files of a task, but no task is given")
        for name in ("text_column", "pair_column", "label_column"):
            if getattr(self, name) is not None and self.task is not None:
                raise ValueError(f"{name} is not for a task, whose columns are known")
