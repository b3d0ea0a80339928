"""Changing single keys of a recipe from the command line: `--set key=value`."""

import copy
import tomllib
from collections.abc import Mapping, Sequence

from exitwise.errors import RecipeError
from exitwise.recipe.families import KIND


def apply_overrides(plain: Mapping[str, object], overrides: Sequence[str]) -> dict[str, object]:
    """The plain data with some keys changed, in the given order.

    A value is read as TOML, and as bare text where it is none. A kind may stand for a table,
    which is then replaced as a whole.

    >>> apply_overrides({"regime": {"epochs": 3}}, ["regime.epochs=5", "encoder=my/encoder"])
    {'regime': {'epochs': 5}, 'encoder': 'my/encoder'}
    >>> apply_overrides({"regime": {"epochs": 3}}, ["regime=joint", "regime.weights=depth"])
    {'regime': {'kind': 'joint', 'weights': 'depth'}}
    """
    changed = copy.deepcopy(dict(plain))
    for override in overrides:
        key, equals, text = override.partition("=")
        names = [name.strip() for name in key.split(".")]
        if not equals or not all(names):
            raise RecipeError(f"an override reads key=value, such as seed=1, found {override!r}")
        _set(changed, names, _parse(text.strip()))
    return changed


def _set(table: dict[str, object], names: Sequence[str], value: object) -> None:
    for depth, name in enumerate(names[:-1], start=1):
        inner = table.setdefault(name, {})
        if isinstance(inner, str):
            inner = table[name] = {KIND: inner}
        if not isinstance(inner, dict):
            key, parent = ".".join(names), ".".join(names[:depth])
            raise RecipeError(f"cannot set {key}: {parent} is no table but {inner!r}")
        table = inner
    table[names[-1]] = value


def _parse(text: str) -> object:
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    return value if isinstance(value, bool | int | float | str | list | dict) else text
