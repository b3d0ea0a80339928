"""The labelled texts that a command is given: a file's, or a task's."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from exitwise.errors import DataError, RecipeError

if TYPE_CHECKING:
    from exitwise.data import TextDataset

MetricName = Literal["accuracy", "f1", "matthews", "f1_accuracy"]
"""`exitwise.metrics.Metric`, which is not imported before a command runs."""

Metric = Annotated[
    MetricName | None, typer.Option("--metric", help="By default the task's or that of the run.")
]
Split = Annotated[
    str | None, typer.Option("--split", help="Of the task; by default its validation set.")
]
Columns = tuple[str | None, str | None, str | None]
"""Of texts, pairs and labels, if a file does not tell."""


def check_source(data: Path | None, task: str | None, purpose: str) -> None:
    """Whether there is one source of labelled texts.

    Raises:
        RecipeError: there are none or two.
    """
    if (data is None) == (task is None):
        raise RecipeError(f"give either --data FILE or --task TASK to {purpose} on")


def labelled_sets(
    data: Path | None,
    task: str | None,
    split: str | None,
    data_dir: Path | None,
    columns: Columns,
    labels: tuple[str, ...],
) -> "dict[str, TextDataset]":
    """The texts of the file or the task that a command was given, by name."""
    if task is not None:
        return task_texts(task, split, data_dir, labels)
    assert data is not None  # by `check_source`
    return own_texts(data, labels, columns)


def own_texts(path: Path, labels: tuple[str, ...], columns: Columns) -> "dict[str, TextDataset]":
    """The texts of a file, with the labels that the model knows."""
    from exitwise.data import load_texts

    text, pair, label = columns
    texts = load_texts(
        path, label_names=labels, text_column=text, pair_column=pair, label_column=label
    )
    return {str(path): texts}


def task_texts(
    task: str, split: str | None, data_dir: Path | None, labels: tuple[str, ...]
) -> "dict[str, TextDataset]":
    """One split of a task, or its validation sets."""
    from exitwise.data import TASKS, load_task_split

    if task not in TASKS:
        raise RecipeError(f"--task must be one of {', '.join(TASKS)}, found {task!r}")
    if TASKS[task].label_names != labels:
        raise DataError(
            f"{task} has the labels {', '.join(TASKS[task].label_names)}, "
            f"the model answers {', '.join(labels)}"
        )
    splits = TASKS[task].validation_splits if split is None else (split,)
    return {f"{task}/{name}": load_task_split(task, name, data_dir) for name in splits}


def usual_metric(model: str, task: str | None) -> str:
    """What counts: for a task its own metric, else that of the run, else accuracy."""
    from exitwise.data import TASKS
    from exitwise.run import RunFolder

    run = RunFolder(Path(model))
    if task is not None:
        return TASKS[task].metric
    return str(run.read_result()["data"]["metric"]) if run.is_finished else "accuracy"
