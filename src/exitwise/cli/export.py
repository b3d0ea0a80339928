"""`exitwise export`: a run as a folder that answers without torch, or as a shorter model."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from exitwise.cli.int8_drop import int8_drop, print_int8_drop
from exitwise.cli.labelled_texts import MetricName, own_texts, usual_metric
from exitwise.cli.recipe_options import LabelColumn, PairColumn, TextColumn, integers
from exitwise.cli.reports import other_libraries_quiet, spinner
from exitwise.errors import ExitwiseError, RecipeError

if TYPE_CHECKING:
    from exitwise.inference.torch_engine import TorchEngine
    from exitwise.policies import ExitPolicy

Form = Literal["onnx", "plain"]


def export(
    model: Annotated[str, typer.Argument(help="A run, a model folder or a hub id.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The new folder.")],
    form: Annotated[
        Form,
        typer.Option("--format", help="onnx needs no torch afterwards; plain is k layers alone."),
    ] = "onnx",
    int8: Annotated[
        bool, typer.Option("--int8", help="Run the layers' products in 8 bits (onnx).")
    ] = False,
    exits: Annotated[
        str | None, typer.Option(help="Exits to keep, such as 2,4,6; all by default (onnx).")
    ] = None,
    layer: Annotated[
        int | None, typer.Option(min=1, help="Keep the layers up to this one (plain).")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Labelled texts, such as those of calibration: what --int8 costs each exit."
        ),
    ] = None,
    text_column: TextColumn = None,
    pair_column: PairColumn = None,
    label_column: LabelColumn = None,
    metric: Annotated[
        MetricName | None, typer.Option(help="For --data; by default that of the run.")
    ] = None,
) -> None:
    """Writes what can be deployed; a policy chosen by `exitwise calibrate` goes with it."""
    check_options(form, int8=int8, exits=exits, layer=layer)
    if data is not None and not int8:
        raise RecipeError("--data says what --int8 costs: give both, or neither")
    kept = None if exits is None else integers(exits, option="--exits", example="2,4,6")
    with other_libraries_quiet(), spinner("exporting"):
        from exitwise.export.new_folder import check_is_new
        from exitwise.inference.calibration_report import read_report
        from exitwise.inference.hub import local_folder
        from exitwise.inference.policy_file import read_policy
        from exitwise.inference.torch_engine import TorchEngine, model_folder

        check_is_new(output)
        folder = Path(model_folder(local_folder(model)))
        engine = TorchEngine.from_pretrained(folder, device="cpu")
        columns = text_column, pair_column, label_column
        is_left_out = False
        sets = {} if data is None else own_texts(data, engine.labels, columns)
        if form == "plain":
            from exitwise.export import export_plain

            assert layer is not None
            export_plain(engine, output, layer=layer)
        else:
            from exitwise.export.onnx import export_onnx

            policy, calibration = read_policy(folder, engine), read_report(folder)
            if policy is not None and kept is not None and not fits(policy, engine, kept):
                policy, calibration, is_left_out = None, None, True
            export_onnx(
                engine,
                output,
                policy=policy,
                exits=kept,
                int8=int8,
                calibration=calibration,
            )
        chosen = metric or usual_metric(model, None)
        drops = [
            (int8_drop(engine, output, texts, metric=chosen), len(texts)) for texts in sets.values()
        ]
    for found, rows in drops:
        print_int8_drop(found, metric=chosen, rows=rows)
    if is_left_out:
        typer.echo(
            "The policy was left out, since it is for other exits; choose one for these: "
            f"exitwise calibrate {output} --data FILE --max-drop 1.0"
        )
    size = sum(path.stat().st_size for path in output.iterdir()) / 1e6
    typer.echo(f"{output}: {size:.1f} MB. Ask it: exitwise predict {output}")


def fits(policy: "ExitPolicy", engine: "TorchEngine", kept: Sequence[int]) -> bool:
    """Whether a policy can be used with some of the model's exits."""
    try:
        policy.check(layers=kept, num_labels=len(engine.labels))
    except ExitwiseError:
        return False
    return True


def check_options(form: Form, *, int8: bool, exits: str | None, layer: int | None) -> None:
    """Whether the options belong to the format.

    Raises:
        RecipeError: one does not, or one is missing.
    """
    if form == "plain" and layer is None:
        raise RecipeError("--format plain needs --layer: how many layers are kept")
    if form == "plain" and (int8 or exits is not None):
        raise RecipeError("--int8 and --exits belong to --format onnx")
    if form == "onnx" and layer is not None:
        raise RecipeError("--layer belongs to --format plain; for ONNX give --exits")
