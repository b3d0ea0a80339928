"""A run that makes its model smaller."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from transformers import AutoModelForSequenceClassification

from exitwise.errors import RecipeError, UnsupportedError
from exitwise.modeling import MultiExitForSequenceClassification
from exitwise.recipe import Recipe
from exitwise.run import train

MakeRecipe = Callable[..., Recipe]

LAYER_DROP = (
    "regime=none",
    "compression.kind=layer_drop",
    "compression.keep=2",
    "compression.epochs=1",
)


def test_a_run_may_consist_of_compression_alone(make_recipe: MakeRecipe, tmp_path: Path) -> None:
    result = train(make_recipe(*LAYER_DROP), tmp_path / "run")
    assert result == json.loads((tmp_path / "run" / "result.json").read_text())
    assert result["recipe"]["compression"]["kind"] == "layer_drop"
    (scores,) = result["scores"].values()
    assert list(scores["exits"]) == ["2"]
    model = AutoModelForSequenceClassification.from_pretrained(tmp_path / "run" / "model")
    assert isinstance(model, MultiExitForSequenceClassification)
    assert model.num_layers == 2
    assert model.exit_layers == (2,)


def test_the_heads_of_a_finished_run_can_be_pruned(make_recipe: MakeRecipe, tmp_path: Path) -> None:
    plain = make_recipe("regime.kind=single_exit", "regime.epochs=1", without=("regime",))
    train(plain, tmp_path / "whole")
    recipe = make_recipe(
        f"start_from={tmp_path / 'whole'}",
        "regime=none",
        "compression.kind=head_pruning",
        "compression.share=0.5",
        without=("encoder", "regime"),
    )
    train(recipe, tmp_path / "run")
    folders = (tmp_path / name / "model" for name in ("whole", "run"))
    whole, smaller = map(AutoModelForSequenceClassification.from_pretrained, folders)
    assert whole.num_layers == smaller.num_layers == 3
    heads = smaller.config.encoder.kept_heads
    assert [len(each) for each in heads] == [1, 1, 1]
    assert smaller.num_parameters() < whole.num_parameters()


def test_a_depth_that_cannot_be_is_said_before_anything_is_written(
    make_recipe: MakeRecipe, tmp_path: Path
) -> None:
    recipe = make_recipe(*LAYER_DROP, "compression.keep=4")
    with pytest.raises(RecipeError, match="compression: keep must be from 1 to 3, found 4"):
        train(recipe, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_recipe_without_regime_and_compression_is_refused_in_one_line(
    make_recipe: MakeRecipe,
) -> None:
    with pytest.raises(RecipeError, match="nothing would be trained: give a regime") as error:
        make_recipe("regime=none")
    assert "\n" not in str(error.value)


def test_an_encoder_that_cannot_be_made_smaller_so_is_refused_before_training(
    make_recipe: MakeRecipe, tmp_path: Path, save_encoder: Callable[..., str]
) -> None:
    encoder = save_encoder("albert")
    recipe = make_recipe(f"encoder={encoder}", "compression.kind=layer_drop", "compression.keep=1")
    with pytest.raises(UnsupportedError, match="layers of an encoder of type 'albert'"):
        train(recipe, tmp_path / "run")
    assert not (tmp_path / "run").exists()
