"""Recipes: everything that decides a run, as a tree of dataclasses and as TOML."""

from exitwise.recipe.codec import from_plain, plain_hash, recipe_hash, to_plain
from exitwise.recipe.overrides import apply_overrides
from exitwise.recipe.schema import Recipe
from exitwise.recipe.toml import dumps_toml, read_toml

__all__ = [
    "Recipe",
    "apply_overrides",
    "dumps_toml",
    "from_plain",
    "plain_hash",
    "read_toml",
    "recipe_hash",
    "to_plain",
]
