"""`exitwise train`: a recipe to a run folder."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from exitwise.cli import recipe_options as options
from exitwise.cli.recipe_options import chosen_recipe
from exitwise.cli.reports import other_libraries_quiet

if TYPE_CHECKING:
    from exitwise.recipe import Recipe


def train(
    recipe: options.RecipeFile = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The run folder; by default in runs/.")
    ] = None,
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
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a run that was broken off.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Start again; what the folder holds is lost.")
    ] = False,
    cache_budget: Annotated[
        str, typer.Option(help="How much of a frozen encoder's hidden states may be kept.")
    ] = "8GB",
    cache_dir: Annotated[
        Path | None, typer.Option(help="Where they lie if memory does not suffice.")
    ] = None,
    keep_cache: Annotated[
        bool, typer.Option("--keep-cache", help="Leave such files for a later run.")
    ] = False,
    profile: Annotated[bool, typer.Option("--profile", help="Print where the time went.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the content of result.json.")
    ] = False,
) -> None:
    """Trains a multi-exit classifier: all stages of the recipe, into a run folder."""
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
    folder = output or default_folder(chosen)
    with other_libraries_quiet():
        from exitwise.cli.progress import stage_progress
        from exitwise.run import train as run
        from exitwise.training import CacheSettings, parse_bytes

        cache = CacheSettings(budget=parse_bytes(cache_budget), folder=cache_dir, keep=keep_cache)
        try:
            with stage_progress() as progress:
                result = run(
                    chosen,
                    folder,
                    resume=resume,
                    force=force,
                    callbacks=[progress],
                    cache=cache,
                    profile=profile,
                )
        except KeyboardInterrupt:
            typer.echo(f"exitwise: interrupted; --resume goes on in {folder}", err=True)
            raise typer.Exit(130) from None
    if as_json:
        typer.echo(json.dumps(result, ensure_ascii=False))
    else:
        show(result, folder)


def default_folder(recipe: "Recipe") -> Path:
    """`runs/DATA-HASH`: the same recipe finds its run again."""
    from exitwise.recipe import recipe_hash

    data = recipe.data
    name = data.task or Path(data.train or data.hub or "").stem
    return Path("runs") / f"{name}-{recipe_hash(recipe)}"


def show(result: dict[str, object], folder: Path) -> None:
    """Prints the scores of every set, where the time went if asked for, and where things lie."""
    from exitwise.cli.profile_table import print_profile
    from exitwise.cli.score_table import print_scores

    scores = result["scores"]
    assert isinstance(scores, dict)
    for name, found in scores.items():
        print_scores(found, name)
    profile = result.get("profile")
    if isinstance(profile, dict):
        print_profile(profile)
    typer.echo(f"run    {folder}\nmodel  {folder / 'model'}")
    typer.echo(f"next   exitwise predict {folder} TEXTS.csv")
