"""GLUE's splits, from a local folder or from the hub."""

import logging
from pathlib import Path

from exitwise.data.tasks import HUB_NAME, TASKS, Task
from exitwise.data.texts import Splits, TextDataset
from exitwise.errors import DataError

logger = logging.getLogger(__name__)


def load_task(name: str, data_dir: Path | None) -> Splits:
    """The training and development sets of a task; of a local test set its labels, if any."""
    if name not in TASKS:
        raise DataError(f"unknown task {name!r}; there are {', '.join(TASKS)}")
    task = TASKS[name]
    splits = {
        split: local_split(task, split, data_dir) if data_dir else hub_split(task, split)
        for split in task.sizes
    }
    return Splits(
        train=splits["train"],
        validation={split: splits[split] for split in task.validation_splits},
        test=None,
        label_names=task.labels,
        metric=task.metric,
    )


def local_split(task: Task, split: str, data_dir: Path) -> TextDataset:
    """A split from `TASK/SPLIT.parquet`, or from a part of it, `TASK/SPLIT_subset.parquet`."""
    import pyarrow.parquet

    whole = data_dir / task.folder / f"{split}.parquet"
    subset = whole.with_name(f"{split}_subset.parquet")
    path = whole if whole.exists() else subset
    if not path.exists():
        raise DataError(f"{whole} does not exist, nor does {subset.name}: look for {data_dir}")
    columns = ("sentence1", "sentence2") if len(task.columns) == 2 else task.columns
    table = pyarrow.parquet.read_table(path).to_pydict()
    if path == subset:
        rows = len(table["label"])
        logger.warning("%s is a part: %d of %d rows", path, rows, task.sizes[split])
    return task_texts(table, columns, source=f"{task.name}/{path.stem}")


def hub_split(task: Task, split: str) -> TextDataset:
    """A split from the hub."""
    import datasets

    table = datasets.load_dataset(HUB_NAME, task.name, split=split).to_dict()
    return task_texts(table, task.columns, source=f"{HUB_NAME}/{task.name}/{split}")


def task_texts(
    table: dict[str, list[object]], columns: tuple[str, ...], *, source: str
) -> TextDataset:
    """The rows of a table whose columns are known."""
    texts, *pairs = (tuple(map(str, table[column])) for column in columns)
    labels = tuple(int(str(label)) for label in table["label"])
    return TextDataset(texts=texts, pairs=pairs[0] if pairs else None, labels=labels, source=source)
