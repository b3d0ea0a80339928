"""`exitwise evaluate`: a trained classifier's scores on other data."""

import json
from pathlib import Path
from typing import Annotated

import typer

from exitwise.cli.labelled_texts import Metric, check_source, labelled_sets, usual_metric
from exitwise.cli.recipe_options import (
    DataDir,
    DeviceName,
    LabelColumn,
    PairColumn,
    Task,
    TextColumn,
)
from exitwise.cli.reports import other_libraries_quiet, spinner


def evaluate(
    model: Annotated[str, typer.Argument(help="A run, a model or exported folder, or a hub id.")],
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
    metric: Metric = None,
    device: DeviceName = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Scores every exit, and early exit once calibrated. Rows without label are counted only."""
    check_source(data, task, "evaluate")
    with other_libraries_quiet(), spinner("evaluating"):
        from exitwise.classifier import load_engine
        from exitwise.inference.policy_file import read_policy
        from exitwise.run import measure

        engine, folder = load_engine(model, "auto", device)
        columns = text_column, pair_column, label_column
        sets = labelled_sets(data, task, split, data_dir, columns, engine.labels)
        layers, chosen = engine.exit_layers, metric or usual_metric(model, task)
        policy = read_policy(folder, engine)
        scores = {
            name: measure(engine, texts, layers=layers, metric=chosen, policy=policy)
            for name, texts in sets.items()
        }
    if as_json:
        typer.echo(json.dumps({"model": model, "metric": chosen, "scores": scores}))
    else:
        from exitwise.cli.score_table import print_scores

        for name, found in scores.items():
            print_scores(found, name)
