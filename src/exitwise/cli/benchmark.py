"""`exitwise benchmark`: whether early exit pays on this machine, and what to use instead."""

import json
from pathlib import Path
from typing import Annotated, Literal, get_args

import typer

from exitwise.cli.labelled_texts import Metric, Split, check_source, labelled_sets, usual_metric
from exitwise.cli.recipe_options import (
    DataDir,
    LabelColumn,
    PairColumn,
    Task,
    TextColumn,
    integers,
)
from exitwise.cli.reports import other_libraries_quiet, spinner
from exitwise.cli.seen_rows import why_too_good
from exitwise.errors import RecipeError

Kind = Literal["torch", "onnx", "int8"]
"""`exitwise.benchmark.systems.EngineKind`, which is not imported before a command runs."""


def benchmark(
    model: Annotated[str, typer.Argument(help="A calibrated run, or an exported folder.")],
    data: Annotated[
        Path | None, typer.Option(help="Labelled texts that calibration has not seen.")
    ] = None,
    task: Task = None,
    data_dir: DataDir = None,
    split: Split = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder of the results; by default the model's."),
    ] = None,
    engines: Annotated[
        str, typer.Option(help="Of a run: torch is eager, onnx in float32, int8 in 8 bits.")
    ] = "torch,int8",
    batch_sizes: Annotated[str, typer.Option(help="Such as 1,32.")] = "1,32",
    rows: Annotated[
        int, typer.Option(min=1, help="Texts that are timed one by one, at most.")
    ] = 200,
    rounds: Annotated[int, typer.Option(min=1, help="How often each is timed.")] = 3,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Of each engine; by default one a core.")
    ] = None,
    text_column: TextColumn = None,
    pair_column: PairColumn = None,
    label_column: LabelColumn = None,
    metric: Metric = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Times early exit against the whole model and its first layers, and says what to use."""
    check_source(data, task, "measure")
    sizes, kinds = sizes_of(batch_sizes), kinds_of(engines)
    with other_libraries_quiet(), spinner("loading") as status:
        import torch

        from exitwise.benchmark import calibrated_policy, compare, engines_of
        from exitwise.benchmark.picture import draw
        from exitwise.classifier import load_engine
        from exitwise.run.environment import environment
        from exitwise.whole_files import write_text

        if threads is not None:
            torch.set_num_threads(threads)
        engine, there = load_engine(model, "auto", "cpu")
        policy, num_threads = calibrated_policy(model, there), torch.get_num_threads()
        columns = text_column, pair_column, label_column
        sets = labelled_sets(data, task, split, data_dir, columns, engine.labels)
        texts = next(iter(sets.values()))
        status.update("exporting")
        with engines_of(engine, there, policy, kinds, num_threads) as systems:
            found = compare(
                systems,
                texts,
                metric=metric or usual_metric(model, task),
                batch_sizes=sizes,
                most_calls=rows,
                rounds=rounds,
                told=status.update,
            )
        result = {
            "model": model,
            **found,
            "environment": environment() | {"device": "cpu"},
            "notes": why_too_good(model, there, texts),
        }
        folder = output or Path(model)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "benchmark.json"
        write_text(path, json.dumps(result, indent=2, ensure_ascii=False) + "\n")
        draw(result, folder / "benchmark.png")
    if as_json:
        typer.echo(json.dumps(result))
    else:
        from exitwise.cli.benchmark_report import print_benchmark

        print_benchmark(result, path)


def sizes_of(batch_sizes: str) -> list[int]:
    """Batch sizes from their numbers with commas between.

    >>> sizes_of("1, 32")
    [1, 32]
    """
    sizes = integers(batch_sizes, option="--batch-sizes", example="1,32")
    if min(sizes) < 1:
        raise RecipeError(f"--batch-sizes is a list such as 1,32, found {batch_sizes!r}")
    return list(dict.fromkeys(sizes))


def kinds_of(engines: str) -> tuple[Kind, ...]:
    """Engines from their names with commas between.

    >>> kinds_of("torch, int8")
    ('torch', 'int8')
    """
    asked = [part.strip() for part in engines.split(",")]
    known: dict[str, Kind] = {kind: kind for kind in get_args(Kind)}
    unknown = [each for each in asked if each not in known]
    if unknown:
        raise RecipeError(f"--engines is a list of {', '.join(known)}, found {unknown[0]!r}")
    return tuple(known[each] for each in dict.fromkeys(asked))
