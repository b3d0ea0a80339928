"""A recipe that runs in a second: a tiny encoder in a folder and files of labelled texts."""

from collections.abc import Callable
from pathlib import Path

import pytest

from exitwise.recipe import Recipe, apply_overrides, from_plain

TEXTS = {
    "bad": ("the film was not good", "a very bad plot", "dull and long and cold", "it never ends"),
    "good": ("the story was great", "a good film", "great movie !", "this plot is very good"),
}

MakeRecipe = Callable[..., Recipe]


@pytest.fixture
def make_recipe(tmp_path: Path, save_encoder: Callable[..., str]) -> MakeRecipe:
    """A two-stage recipe with some keys changed, as `--set` does."""
    rows = [f'"{text}",{label}' for label, texts in TEXTS.items() for text in texts]
    (tmp_path / "train.csv").write_text("\n".join(["text,label", *rows, *rows]) + "\n")
    (tmp_path / "dev.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    plain = {
        "encoder": save_encoder(),
        "exit": {"kind": "mha", "width": 8},
        "data": {"train": str(tmp_path / "train.csv"), "validation": str(tmp_path / "dev.csv")},
        "regime": {
            "kind": "two_stage",
            "backbone": {"epochs": 2, "learning_rate": 1e-3},
            "exits": {"epochs": 2, "learning_rate": 1e-3},
        },
        "training": {"precision": "fp32", "micro_batch": 4, "accumulation": 1},
    }

    def make(*overrides: str, without: tuple[str, ...] = ()) -> Recipe:
        kept = {key: value for key, value in plain.items() if key not in without}
        return from_plain(Recipe, apply_overrides(kept, overrides))

    return make
