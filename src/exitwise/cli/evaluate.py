"""`exitwise evaluate`: a trained classifier's scores on other data."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from exitwise.cli.recipe_options import DataDir, LabelColumn, PairColumn, Task, TextColumn
from exitwise.cli.reports import other_libraries_quiet, spinner
from exitwise.errors import DataError, RecipeError

if TYPE_CHECKING:
    from exitwise.data import TextDataset

MetricName = Literal["accuracy", "f1", "matthews", "f1_accuracy"]
"""`exitwise.metrics.Metric`, which is not imported before a command runs."""


def evaluate(
    model: Annotated[str, typer.Argument(help="A run, a model folder or a hub id.")],
    data: Annotated[
        Path | None, typer.Option(help="Labelled texts: CSV, TSV, JSONL or Parquet.")
    ] = None,
    task: Task = None,
    data_dir: DataDir = None,
    split: Annotated[
        str | None, typer.Option(help="Of the task; by default its validation sets.")
    ] = None,
    text_column: TextColumn = None,
    pair_column: PairColumn = None,
    label_column: LabelColumn = None,
    metric: Annotated[
        MetricName | None, typer.Option(help="By default the task's or that of the run.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Scores every exit on a file or a task. Rows without label are counted, not scored."""
    if (data is None) == (task is None):
        raise RecipeError("give either --data FILE or --task TASK to evaluate on")
    with other_libraries_quiet(), spinner("evaluating"):
        from exitwise.inference.torch_engine import TorchEngine
        from exitwise.run import measure

        engine = TorchEngine.from_pretrained(model)
        if task is None:
            assert data is not None
            columns = text_column, pair_column, label_column
            sets = own_texts(data, engine.labels, columns)
        else:
            sets = task_texts(task, split, data_dir, engine.labels)
        layers, chosen = engine.model.exit_layers, metric or usual_metric(model, task)
        scores = {
            name: measure(engine, texts, layers=layers, metric=chosen)
            for name, texts in sets.items()
        }
    if as_json:
        typer.echo(json.dumps({"model": model, "metric": chosen, "scores": scores}))
    else:
        from exitwise.cli.score_table import print_scores

        for name, found in scores.items():
            print_scores(found, name)


def own_texts(
    path: Path, labels: tuple[str, ...], columns: tuple[str | None, str | None, str | None]
) -> "dict[str, TextDataset]":
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
