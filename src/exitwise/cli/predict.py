"""`exitwise predict`: texts in, one after the other; label, probability and layer out."""

import logging
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from exitwise.cli.answers import Format, Write, answers, answers_as, new_file
from exitwise.cli.recipe_options import DeviceName, PairColumn, TextColumn
from exitwise.cli.reports import bar, other_libraries_quiet, spinner
from exitwise.errors import ExitwiseError

CHUNK = 256
"""Rows that are read, answered and written before the next are read, at most."""

logger = logging.getLogger(__name__)


def predict(
    model: Annotated[str, typer.Argument(help="A run, a model folder or a hub id.")],
    texts: Annotated[
        str,
        typer.Argument(
            metavar="[FILE]",
            help="CSV, TSV, JSONL or Parquet; - is standard input, one text or JSON object a line.",
        ),
    ] = "-",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A file instead of standard output.")
    ] = None,
    form: Annotated[
        Format | None,
        typer.Option("--format", help="By default as the output file is named, else jsonl."),
    ] = None,
    layer: Annotated[
        int | None,
        typer.Option(min=1, help="This exit answers all; by default as calibrated, else the last."),
    ] = None,
    device: DeviceName = None,
    dtype: Annotated[
        Literal["float32", "bfloat16", "float16"],
        typer.Option(help="Of PyTorch's arithmetic; exported graphs have their own."),
    ] = "float32",
    threads: Annotated[
        int | None,
        typer.Option(min=1, help="Of exported graphs; by default one a core."),
    ] = None,
    keep_text: Annotated[
        bool, typer.Option("--keep-text", help="Repeat the texts beside the answers.")
    ] = False,
    text_column: TextColumn = None,
    pair_column: PairColumn = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the output file if it exists.")
    ] = False,
) -> None:
    """Answers each text with label, probability and layer, in the order of the texts."""
    if output is not None and output.exists() and not force:
        raise ExitwiseError(f"{output} exists: --force replaces it")
    hidden = output is None and sys.stdout.isatty()  # the answers themselves show the progress
    with other_libraries_quiet():
        with spinner("loading", hidden=hidden) as status:
            from exitwise.classifier import EarlyExitClassifier
            from exitwise.data import count_rows, read_chunks
            from exitwise.policies import FixedPolicy

            policy = None if layer is None else FixedPolicy(layer=layer)
            classifier = EarlyExitClassifier.from_pretrained(
                model, device=device, dtype=dtype, num_threads=threads, policy=policy
            )
            status.update("checking the texts")
            columns, total = {"text_column": text_column, "pair_column": pair_column}, None
            if Path(texts).is_file():  # a pipe can be read once only
                total, found = count_rows(texts, **columns)
                columns = {"text_column": found.text, "pair_column": found.pair}
        left: Counter[int] = Counter()
        with target(output) as write, bar("answering", total, hidden=hidden) as advance:
            for chunk in read_chunks(texts, CHUNK, **columns):
                given = answers(classifier, chunk, keep_text=keep_text)
                write(answers_as(form or form_of(output), given, is_first=not left))
                left.update(int(answer["layer"]) for answer in given)
                advance(len(chunk))
    told = [
        f"exit {exit} {100 * count / left.total():.0f} %" for exit, count in sorted(left.items())
    ]
    logger.info("%d rows answered: %s", left.total(), ", ".join(told) or "there were none")


@contextmanager
def target(output: Path | None) -> Iterator[Write]:
    """Where the answers go; what is written to standard output is there at once."""
    if output is None:
        yield partial(typer.echo, nl=False)
    else:
        with new_file(output) as write:
            yield write


def form_of(output: Path | None) -> Format:
    """The format that the name of a file stands for."""
    return "csv" if output is not None and output.suffix.lower() == ".csv" else "jsonl"
