"""`exitwise plan`: what a recipe would do, without doing it."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from exitwise.cli import recipe_options as options
from exitwise.cli.recipe_options import chosen_recipe
from exitwise.cli.reports import other_libraries_quiet

if TYPE_CHECKING:
    from exitwise.compression import Compression
    from exitwise.data import BatchPlan
    from exitwise.recipe import Recipe
    from exitwise.regimes import Stage


def plan(
    recipe: options.RecipeFile = None,
    encoder: options.Encoder = None,
    start_from: options.StartFrom = None,
    task: options.Task = None,
    data_dir: options.DataDir = None,
    train_file: options.TrainFile = None,
    validation: options.ValidationFile = None,
    test: options.TestFile = None,
    text_column: options.TextColumn = None,
    pair_column: options.PairColumn = None,
    label_column: options.LabelColumn = None,
    regime: options.Regime = None,
    seed: options.Seed = None,
    overrides: options.Overrides = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Prints the stages of a recipe, and checks its files, without training."""
    chosen = chosen_recipe(
        recipe,
        overrides,
        encoder=encoder,
        start_from=start_from,
        task=task,
        data_dir=data_dir,
        train=train_file,
        validation=validation,
        test=test,
        text_column=text_column,
        pair_column=pair_column,
        label_column=label_column,
        regime=regime,
        seed=seed,
    )
    with other_libraries_quiet():
        from exitwise.run import planned_stages

        stages = planned_stages(chosen)
        batches = planned_batches(chosen)
    if as_json:
        typer.echo(json.dumps(plain_plan(stages, batches, chosen.compression)))
    else:
        print_plan(stages, batches, chosen.compression)


def planned_batches(recipe: "Recipe") -> "BatchPlan | None":
    """The sizes of an epoch; `None` for a hub data set, whose rows are not fetched for this."""
    from exitwise.data import TASKS, batch_plan, load_splits

    data = recipe.data
    if data.hub is not None:
        return None
    if data.task is not None and data.data_dir is None:
        num_rows = min(TASKS[data.task].sizes["train"], data.train_rows or 2**62)
    else:
        num_rows = len(load_splits(data, seed=recipe.seed).train)
    settings = recipe.training
    return batch_plan(
        num_rows, micro_batch=settings.micro_batch, accumulation=settings.accumulation
    )


def plain_plan(
    stages: "tuple[Stage, ...]", batches: "BatchPlan | None", compression: "Compression | None"
) -> dict[str, object]:
    """The plan as plain data."""
    from exitwise.recipe import to_plain

    return {
        "batches": None if batches is None else plain_batches(batches),
        "stages": [to_plain(stage) for stage in stages],
        "compression": None if compression is None else to_plain(compression),
    }


def plain_batches(batches: "BatchPlan") -> dict[str, int]:
    """The sizes of an epoch as plain data."""
    return {
        "rows": batches.num_rows,
        "micro_batch": batches.micro_batch,
        "accumulation": batches.accumulation,
        "updates_per_epoch": batches.updates_per_epoch,
    }


def print_plan(
    stages: "tuple[Stage, ...]",
    batches: "BatchPlan | None",
    compression: "Compression | None" = None,
) -> None:
    """The plan in words."""
    from exitwise.cli.stage_words import describe

    if batches is None:
        typer.echo("each epoch: not known before the data set is fetched")
    else:
        typer.echo(
            f"each epoch: {batches.num_rows} rows in {batches.updates_per_epoch} updates of "
            f"{batches.accumulation} × {batches.micro_batch} rows"
        )
    for number, stage in enumerate(stages, start=1):
        typer.echo(f"stage {number}: {stage.name}")
        for name, words in describe(stage).items():
            typer.echo(f"  {name:<16} {words}")
    if compression is not None:
        typer.echo(f"then compression: {settings_in_words(compression)}")


def settings_in_words(settings: object) -> str:
    """The kind and the settings of a member of a family, on one line."""
    from exitwise.recipe import to_plain

    plain = to_plain(settings)
    others = [f"{name} {value}" for name, value in plain.items() if name != "kind"]
    return f"{plain['kind']} ({', '.join(others)})"
