"""Which data a run uses, as part of its recipe."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """One of a task, files, or a hub data set; and how its rows are read.

    Attributes:
        task: a task of GLUE.
        data_dir: a folder with `TASK/SPLIT.parquet`, instead of the hub.
        hub: the name of a data set on the hub.
        train: a file of labelled texts.
        validation: as `train`; without it, a part of the training rows.
        test: as `train`.
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
        given = [name for name in ("task", "train", "hub") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(
                "give one of a task, a train file or a hub data set, "
                f"found {' and '.join(given) or 'none'}"
            )
        if self.max_length < 3:
            raise ValueError(f"max_length must be at least 3, found {self.max_length}")
        if self.train_rows is not None and self.train_rows < 2:
            raise ValueError(f"train_rows must be at least 2, found {self.train_rows}")
        if not 0 < self.validation_fraction < 1:
            raise ValueError(
                f"validation_fraction must be between 0 and 1, found {self.validation_fraction}"
            )
