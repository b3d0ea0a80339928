"""`exitwise demo`: the whole method on movie sentences, in a few minutes."""

from pathlib import Path
from typing import Annotated

import typer


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder; an earlier demo in it is replaced.")
    ] = Path("runs/demo"),
) -> None:
    """Trains, measures and asks a classifier of movie sentences; fetches what it needs once."""
