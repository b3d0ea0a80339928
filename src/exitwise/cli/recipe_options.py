"""From a recipe file and flags to a recipe: what `train` and `plan` share."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from exitwise.errors import RecipeError

if TYPE_CHECKING:
    from exitwise.recipe import Recipe

RecipeFile = Annotated[
    Path | None, typer.Argument(help="A recipe in TOML; flags change single keys of it.")
]
Encoder = Annotated[str | None, typer.Option(help="A pre-trained encoder: a folder or a hub id.")]
StartFrom = Annotated[
    str | None,
    typer.Option("--from", help="A trained classifier instead: a run, a folder or a hub id."),
]
Task = Annotated[str | None, typer.Option(help="A task of GLUE, such as mrpc.")]
DataDir = Annotated[
    Path | None, typer.Option(help="A folder with TASK/SPLIT.parquet, instead of the hub.")
]
DeviceName = Annotated[
    Literal["cpu", "cuda"] | None,
    typer.Option("--device", help="By default the GPU for PyTorch, if there is one."),
]
TrainFile = Annotated[
    Path | None, typer.Option("--train", help="Labelled texts: CSV, TSV, JSONL or Parquet.")
]
ValidationFile = Annotated[
    Path | None, typer.Option("--validation", help="As --train; split off by seed if not given.")
]
TestFile = Annotated[Path | None, typer.Option("--test", help="As --train.")]
TextColumn = Annotated[str | None, typer.Option(help="The column of the texts.")]
PairColumn = Annotated[str | None, typer.Option(help="The column of the second texts.")]
LabelColumn = Annotated[str | None, typer.Option(help="The column of the labels.")]
Regime = Annotated[
    str | None, typer.Option(help="two_stage, exits, single_exit, joint or alternating.")
]
Seed = Annotated[int | None, typer.Option(help="Of initialisation, order, dropout and splits.")]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Any key of the recipe: regime.epochs=3."),
]

KEYS = {
    "encoder": "encoder",
    "start_from": "start_from",
    "task": "data.task",
    "data_dir": "data.data_dir",
    "train": "data.train",
    "validation": "data.validation",
    "test": "data.test",
    "text_column": "data.text_column",
    "pair_column": "data.pair_column",
    "label_column": "data.label_column",
    "regime": "regime",
    "seed": "seed",
}
"""Which key of the recipe a flag sets, by the name of the command's parameter."""


def chosen_recipe(
    file: Path | None, overrides: list[str] | None, **flags: str | int | Path | None
) -> "Recipe":
    """The recipe that a command is given.

    Args:
        file: of a recipe, whose keys the flags change; without it they change the defaults.
        overrides: `key=value`, which come last.
        flags: by the names in `KEYS`; `None` was not given.
    """
    from exitwise.recipe import Recipe, apply_overrides, from_plain, read_toml

    plain = {} if file is None else read_toml(file)
    given = [
        f"{KEYS[name]}={toml_value(value)}" for name, value in flags.items() if value is not None
    ]
    changed = apply_overrides(plain, [*given, *(overrides or ())])
    changed.setdefault("data", {})  # which says what it needs
    return from_plain(Recipe, changed)


def toml_value(value: str | int | Path) -> str:
    """A flag's value as TOML, so that a text such as `1` stays a text.

    >>> toml_value(3), toml_value("3")
    ('3', '"3"')
    """
    return str(value) if isinstance(value, int) else json.dumps(str(value), ensure_ascii=False)


def integers(text: str, *, option: str, example: str) -> list[int]:
    """Numbers with commas between.

    >>> integers("2,4, 6", option="--exits", example="2,4,6")
    [2, 4, 6]

    Raises:
        RecipeError: one is no number.
    """
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise RecipeError(f"{option} is a list such as {example}, found {text!r}") from None
