"""What the demo trains: the recipe beside this file, on sentences written into its folder."""

import csv
import tomllib
from importlib.resources import files
from pathlib import Path

from exitwise.data import Splits, TextDataset
from exitwise.errors import ExitwiseError
from exitwise.recipe import Recipe, from_plain

TRAIN, VALIDATION = "train.csv", "validation.csv"
"""The files of labelled texts in a demo's folder, as a person's own would be."""


def demo_recipe(folder: Path, *, encoder: Path, sentences: Splits) -> Recipe:
    """Writes the sentences into the folder; the recipe trains on them.

    Args:
        folder: of the demo: made, or an earlier demo's.
        encoder: the folder of the pre-trained encoder.
        sentences: to learn from and to measure on.

    Raises:
        ExitwiseError: the folder holds something else.
    """
    is_used = folder.is_file() or (folder.is_dir() and any(folder.iterdir()))
    if is_used and not (folder / VALIDATION).exists():
        raise ExitwiseError(f"{folder} exists and holds no demo: choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    (validation,) = sentences.validation.values()
    write_texts(folder / TRAIN, sentences.train, sentences.label_names)
    write_texts(folder / VALIDATION, validation, sentences.label_names)
    text = files("exitwise.demo").joinpath("recipe.toml").read_text(encoding="utf-8")
    data = {"train": str(folder / TRAIN), "validation": str(folder / VALIDATION)}
    return from_plain(Recipe, tomllib.loads(text) | {"encoder": str(encoder), "data": data})


def write_texts(path: Path, texts: TextDataset, label_names: tuple[str, ...]) -> None:
    """A CSV file of the columns text and label, the labels by name."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        for text, label in zip(texts.texts, texts.labels, strict=True):
            writer.writerow([text, label_names[label]])
