"""`exitwise`: the commands together."""

import logging
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

import exitwise
from exitwise.cli.benchmark import benchmark
from exitwise.cli.calibrate import calibrate
from exitwise.cli.demo import demo
from exitwise.cli.evaluate import evaluate
from exitwise.cli.export import export
from exitwise.cli.plan import plan
from exitwise.cli.predict import predict
from exitwise.cli.program import QUIET, VERBOSE, run
from exitwise.cli.report import report
from exitwise.cli.reports import tell
from exitwise.cli.reproduce import reproduce
from exitwise.cli.train import train

app = typer.Typer(
    name="exitwise",
    help="Classifiers of text that are good and fast: aligned contrastive learning, early exit.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
COMMANDS = (
    train,
    evaluate,
    calibrate,
    export,
    predict,
    benchmark,
    plan,
    reproduce,
    report,
    demo,
)
for command in COMMANDS:
    app.command()(command)


def show_version(is_asked: bool) -> bool:
    """Prints the version and ends, if it is asked for."""
    if is_asked:
        typer.echo(f"exitwise {exitwise.__version__}")
        raise typer.Exit
    return is_asked


@app.callback()
def listen(
    quiet: Annotated[bool, typer.Option(*QUIET, help="Tell only what is wrong.")] = False,
    verbose: Annotated[bool, typer.Option(*VERBOSE, help="Tell all.")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Sets how much is told, for all commands."""
    tell(logging.WARNING if quiet else logging.DEBUG if verbose else logging.INFO)


def main(arguments: Sequence[str] | None = None) -> None:
    """The program; it ends by `SystemExit`, whose code is the status."""
    run(app, sys.argv[1:] if arguments is None else arguments)
