"""`exitwise calibrate`: thresholds for a budget, on labelled rows that the model has not seen."""

import json
import re
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from exitwise.cli.calibration_report import print_calibration, report_of
from exitwise.cli.labelled_texts import Metric, Split, check_source, labelled_sets, usual_metric
from exitwise.cli.recipe_options import (
    DataDir,
    DeviceName,
    LabelColumn,
    PairColumn,
    Task,
    TextColumn,
)
from exitwise.cli.reports import other_libraries_quiet, spinner
from exitwise.cli.seen_rows import check_unseen
from exitwise.errors import ExitwiseError, RecipeError

Kind = Literal["confidence", "entropy", "margin", "patience", "patient_confidence", "vote"]
"""The policies of `exitwise.policies` that have something to choose."""

SETTINGS: dict[str, dict[str, Any]] = {
    "confidence": {"threshold": None},
    "entropy": {"threshold": None},
    "margin": {"threshold": None},
    "patience": {"patience": 0},
    "patient_confidence": {"threshold": None, "patience": 2},
    "vote": {"votes": 1},
}
"""What each kind begins its search with."""


def calibrate(
    model: Annotated[str, typer.Argument(help="A run, a model folder or an exported folder.")],
    data: Annotated[
        Path | None, typer.Option(help="Labelled texts that were not used in training.")
    ] = None,
    task: Task = None,
    data_dir: DataDir = None,
    split: Split = None,
    max_drop: Annotated[
        float | None, typer.Option(min=0, help="Points of the metric that may be lost, at most.")
    ] = None,
    target_layers: Annotated[
        float | None, typer.Option(min=1, help="Layers that a text may take on average.")
    ] = None,
    target_latency: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Time that a text may take on average, such as 2ms."),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(help="Promise the drop for texts to come, with this confidence: 0.95."),
    ] = None,
    kind: Annotated[
        Kind, typer.Option("--policy", help="What says that an exit is sure.")
    ] = "confidence",
    text_column: TextColumn = None,
    pair_column: PairColumn = None,
    label_column: LabelColumn = None,
    metric: Metric = None,
    device: DeviceName = None,
    force: Annotated[
        bool, typer.Option("--force", help="Calibrate even on rows that were trained on.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Chooses when a text is answered early, and stores that with the model."""
    if sum(each is not None for each in (max_drop, target_layers, target_latency)) != 1:
        raise RecipeError("give one of --max-drop, --target-layers and --target-latency")
    check_source(data, task, "calibrate")
    milliseconds = None if target_latency is None else milliseconds_of(target_latency)
    if not Path(model).is_dir():
        raise ExitwiseError(
            f"{model} is no folder here, and a policy is stored with its model: save one from the "
            "hub first, by EarlyExitClassifier's from_pretrained and save_pretrained"
        )
    with other_libraries_quiet(), spinner("calibrating"):
        import numpy as np

        from exitwise.calibration import Goal
        from exitwise.calibration import calibrate as choose
        from exitwise.classifier import load_engine
        from exitwise.inference.latency import latencies
        from exitwise.inference.policy_file import write_policy
        from exitwise.policies import policy_from_plain

        engine, folder = load_engine(model, "auto", device)
        columns = text_column, pair_column, label_column
        sets = labelled_sets(data, task, split, data_dir, columns, engine.labels)
        texts = next(iter(sets.values()))
        note = check_unseen(model, texts, force=force)
        goal = Goal(max_drop=max_drop, max_cost=target_layers)
        costs = [float(layer) for layer in engine.exit_layers]
        if milliseconds is not None:
            goal = Goal(max_cost=milliseconds, unit="ms a text")
            costs = latencies(engine, texts.texts, texts.pairs)
        found = choose(
            engine.logits(texts.texts, texts.pairs),
            np.asarray(texts.labels),
            engine.exit_layers,
            kind=policy_from_plain({"kind": kind} | SETTINGS[kind]),
            goal=goal,
            costs=costs,
            metric=metric or usual_metric(model, task),
            confidence=confidence,
        )
        notes = [note] if note else []
        if milliseconds is not None:
            notes.append(
                f"{found.cost * costs[-1]:.3g} ms a text on average with this engine on this "
                "machine, one text at a time: an export takes times of its own, calibrate it there"
            )
        unit = "layers" if milliseconds is None else "ms"
        report = report_of(found, texts, unit=unit, notes=notes)
        write_policy(folder, found.policy, calibration=report)
    if as_json:
        typer.echo(json.dumps(report))
    else:
        print_calibration(report, folder)


def milliseconds_of(time: str) -> float:
    """A time with its unit in milliseconds.

    >>> milliseconds_of("2ms"), milliseconds_of("0.5 s")
    (2.0, 500.0)
    """
    factors = {"us": 0.001, "ms": 1.0, "s": 1000.0}
    parts = re.fullmatch(rf"\s*(\d+\.?\d*|\.\d+)\s*({'|'.join(factors)})\s*", time)
    if parts is None or not float(parts[1]):
        raise RecipeError(f"--target-latency is a time such as 2ms or 0.5s, found {time!r}")
    return float(parts[1]) * factors[parts[2]]
