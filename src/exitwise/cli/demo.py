"""`exitwise demo`: the whole method on movie sentences, in a few minutes."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from exitwise.cli.reports import other_libraries_quiet, spinner

if TYPE_CHECKING:
    from exitwise.metrics import Scores
    from exitwise.recipe import Recipe

QUESTIONS = (
    "A warm and funny film with a wonderful cast.",
    "Two hours that nobody will give me back.",
    "The actors try hard, but the story never begins.",
    "Not half as bad as I had feared.",
    "I laughed once, at the end, because it was over.",
)
"""Sentences of our own, from easy to hard."""


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder; an earlier demo in it is replaced.")
    ] = Path("runs/demo"),
) -> None:
    """Trains, measures and asks a classifier of movie sentences; fetches what it needs once."""
    with other_libraries_quiet():
        from exitwise.data import demo_encoder, movie_sentences
        from exitwise.demo import demo_recipe

        with spinner("fetching encoder and sentences, if they are not here yet"):
            encoder, sentences = demo_encoder(), movie_sentences()
        run_demo(demo_recipe(output, encoder=encoder, sentences=sentences), output)


def run_demo(recipe: "Recipe", folder: Path) -> None:
    """Trains, and tells what came of it."""
    from exitwise.cli.progress import stage_progress
    from exitwise.data import load_splits
    from exitwise.demo import tfidf_scores
    from exitwise.run import train

    run = folder / "run"
    with stage_progress() as progress:
        result = train(recipe, run, force=True, callbacks=[progress])
    with spinner("TF-IDF and logistic regression, to compare"):
        baseline = tfidf_scores(load_splits(recipe.data, seed=recipe.seed))
    show_scores(result, baseline, folder / "layer_scores.png")
    show_answers(run)
    typer.echo(f"Ask it yourself, one text a line: exitwise predict {run}")


def show_scores(result: dict[str, Any], baseline: "Scores", picture: Path) -> None:
    """Prints the layer–score table and draws it."""
    from exitwise.cli.score_table import print_scores
    from exitwise.demo import TFIDF, draw_curve

    measured = result["scores"]["validation"]
    print_scores(measured, "held-out sentences", beside={TFIDF: baseline})
    draw_curve(
        {int(layer): scores["score"] for layer, scores in measured["exits"].items()},
        {TFIDF: baseline["score"], "majority class": measured["majority"]["score"]},
        picture,
    )
    typer.echo(f"trained in {result['seconds']['all']:.0f} seconds; the curve: {picture}\n")


def show_answers(run: Path) -> None:
    """Prints what each exit says of a few sentences, and how sure it is."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    from exitwise.inference import probabilities
    from exitwise.inference.torch_engine import TorchEngine

    engine = TorchEngine.from_pretrained(run)
    found = probabilities(engine.logits(QUESTIONS))  # [m, n, k]
    table = Table("exit", *map(str, engine.model.exit_layers), box=SIMPLE_HEAD, pad_edge=False)
    for number, question in enumerate(QUESTIONS):
        cells = [f"{engine.labels[p.argmax()][:3]} {100 * p.max():.0f}" for p in found[:, number]]
        table.add_row(question, *cells)
    console = Console(markup=False, highlight=False)
    console.print("What each exit says of new sentences, and how sure it is in %", style="bold")
    console.print(table)
