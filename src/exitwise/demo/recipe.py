"""What the demo trains: the recipe beside this file, on sentences written into its folder."""

import csv
import tomllib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from exitwise.data import MOVIE_LABELS
from exitwise.errors import ExitwiseError
from exitwise.recipe import Recipe, from_plain

SENTENCES = "sentences.csv"
"""The file of labelled texts in a demo's folder, as a person's own would be."""


def demo_recipe(
    folder: Path, *, encoder: Path, sentences: tuple[Sequence[str], Sequence[int]]
) -> Recipe:
    """Writes the sentences into the folder; the recipe trains on them.

    Args:
        folder: of the demo: made, or an earlier demo's.
        encoder: the folder of the pre-trained encoder.
        sentences: texts and labels, as `exitwise.data.movie_sentences` gives them.

    Raises:
        ExitwiseError: the folder holds something else.
    """
    path = folder / SENTENCES
    is_used = folder.is_file() or (folder.is_dir() and any(folder.iterdir()))
    if is_used and not path.exists():
        raise ExitwiseError(f"{folder} exists and holds no demo: choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    write_sentences(path, *sentences)
    text = files("exitwise.demo").joinpath("recipe.toml").read_text(encoding="utf-8")
    plain = tomllib.loads(text)
    plain["encoder"] = str(encoder)
    plain["data"]["train"] = str(path)
    return from_plain(Recipe, plain)


def write_sentences(path: Path, texts: Sequence[str], labels: Sequence[int]) -> None:
    """A CSV file of the columns text and label, the labels by name."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        for text, label in zip(texts, labels, strict=True):
            writer.writerow([text, MOVIE_LABELS[label]])
