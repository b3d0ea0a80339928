"""GLUE's splits, from a local folder or from the hub."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from exitwise.data.columns import Columns, check_columns
from exitwise.data.files import open_table
from exitwise.data.hub import hub_table, load_hub
from exitwise.data.rows import read_labelled
from exitwise.data.tables import Table
from exitwise.data.tasks import HUB_NAME, TASKS, Task
from exitwise.data.texts import Splits, TextDataset
from exitwise.errors import DataError

logger = logging.getLogger(__name__)

LABEL = "label"
LOCAL_PAIR = Columns("sentence1", "sentence2", LABEL)
"""The columns of pairs in a local folder, whatever the hub calls them."""


def load_task(name: str, data_dir: str | Path | None) -> Splits:
    """The training and development sets of a task, and the test set if it is in the folder.

    The hub's test sets have no labels, so that there is nothing to measure on them.
    """
    task = TASKS[name]
    names = ["train", *task.validation_splits]
    if data_dir is not None and local_path(task, "test", data_dir) is not None:
        names.append("test")
    splits = read_splits(task, names, data_dir)
    return Splits(
        train=splits["train"],
        validation={split: splits[split] for split in task.validation_splits},
        test=splits.get("test"),
        label_names=task.label_names,
        metric=task.metric,
    )


def load_task_split(name: str, split: str, data_dir: str | Path | None) -> TextDataset:
    """One split of a task; hidden labels, as those of the hub's test sets, are -1.

    Raises:
        DataError: the task has no such split, or it cannot be read.
    """
    task = TASKS[name]
    if split not in task.sizes:
        raise DataError(f"{name} has no split {split!r} (its splits: {', '.join(task.sizes)})")
    return read_splits(task, [split], data_dir)[split]


def read_splits(
    task: Task, splits: Sequence[str], data_dir: str | Path | None
) -> dict[str, TextDataset]:
    """Splits from `data_dir/FOLDER/SPLIT.parquet`, or from the hub without a folder."""
    if data_dir is not None:
        return {split: read_local(task, split, data_dir) for split in splits}
    found = load_hub(f"{HUB_NAME}:{task.name}")
    return {
        split: read_split(hub_table(found[split], f"{task.name}/{split}"), task, split)
        for split in splits
    }


def read_local(task: Task, split: str, data_dir: str | Path) -> TextDataset:
    """A split from its file."""
    path = local_path(task, split, data_dir)
    if path is None:
        raise DataError(
            f"{Path(data_dir) / task.folder} holds neither {split}.parquet nor "
            f"{split}_subset.parquet; data_dir must be the folder above {task.folder}"
        )
    with open_table(path) as table:
        texts = read_split(table, task, split)
    return replace(texts, source=texts.source.replace(str(path), f"{task.name}/{path.stem}"))


def local_path(task: Task, split: str, data_dir: str | Path) -> Path | None:
    """The file of a split: whole, or else a part of it, `SPLIT_subset.parquet`, or none."""
    folder = Path(data_dir) / task.folder
    paths = (folder / f"{split}.parquet", folder / f"{split}_subset.parquet")
    return next((path for path in paths if path.exists()), None)


def read_split(table: Table, task: Task, split: str) -> TextDataset:
    """A split; if it is not the whole official one, this is said, and stands in its source."""
    columns = Columns(task.text_column, task.pair_column, LABEL)
    if task.pair_column is not None and task.pair_column not in table.columns:
        columns = LOCAL_PAIR
    check_columns(table, *columns.names)
    named = replace(table, class_names={LABEL: task.label_names})
    texts = read_labelled(named, columns).dataset(task.label_names)
    if len(texts) == task.sizes[split]:
        return texts
    note = f"{len(texts)} of {task.sizes[split]} rows"
    logger.warning("%s is not the whole official set: %s", table.source, note)
    return replace(texts, source=f"{table.source} (subset, {note})")
