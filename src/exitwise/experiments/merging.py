"""Nested tables laid one over the other."""

import copy
from collections.abc import Mapping

from exitwise.errors import RecipeError

Plain = dict[str, object]


def merged(*tables: Mapping[str, object]) -> Plain:
    """Tables in one: later ones win, key by key; one that names a `kind` of its own starts anew.

    >>> merged({"a": {"b": 1, "c": 2}}, {"a": {"c": 3}})
    {'a': {'b': 1, 'c': 3}}
    >>> merged({"regime": {"kind": "joint", "weights": "depth"}}, {"regime": {"kind": "exits"}})
    {'regime': {'kind': 'exits'}}
    """
    result: Plain = {}
    for table in tables:
        for key, value in table.items():
            result[key] = laid_over(result.get(key), value)
    return result


def laid_over(before: object, value: object) -> object:
    """A value in place of another, or the two as one where both are tables of one kind."""
    if not (isinstance(before, Mapping) and isinstance(value, Mapping)):
        return copy.deepcopy(value)
    is_of_its_kind = value.get("kind", before.get("kind")) == before.get("kind")
    return merged(before, value) if is_of_its_kind else copy.deepcopy(value)


def filled(value: object, variables: Mapping[str, object]) -> object:
    """Data with `"$name"` replaced by what the name stands for, at any depth.

    >>> filled({"keep": "$half"}, {"half": 3})
    {'keep': 3}
    """
    if isinstance(value, Mapping):
        return {key: filled(item, variables) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, variables) for item in value]
    if not (isinstance(value, str) and value.startswith("$")):
        return value
    if value[1:] not in variables:
        known = ", ".join(f"${name}" for name in variables)
        raise RecipeError(f"{value} stands for nothing (known: {known})")
    return variables[value[1:]]
