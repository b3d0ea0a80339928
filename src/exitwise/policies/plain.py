"""Policies as plain data, which JSON can hold."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from exitwise.errors import ExitwiseError
from exitwise.policies.base import ExitPolicy

KIND = "kind"


def policy_to_plain(policy: ExitPolicy) -> dict[str, Any]:
    """The kind and the settings of a policy; layers are text, as JSON wants its keys.

    >>> from exitwise.policies import ConfidencePolicy
    >>> policy_to_plain(ConfidencePolicy(threshold={1: 0.9, 2: None}))
    {'kind': 'confidence', 'temperatures': {}, 'threshold': {'1': 0.9, '2': None}}
    """
    settings = {
        field.name: _written(getattr(policy, field.name)) for field in dataclasses.fields(policy)
    }
    return {KIND: ExitPolicy.registry.key(type(policy)), **settings}


def policy_from_plain(plain: Mapping[str, Any]) -> ExitPolicy:
    """The inverse of `policy_to_plain`.

    Raises:
        ExitwiseError: the kind or a setting is unknown or missing, or a value cannot occur.
    """
    try:
        cls = ExitPolicy.registry[str(plain.get(KIND))]
    except ValueError as error:
        raise ExitwiseError(str(error)) from None
    settings: dict[str, Any] = {name: _read(value) for name, value in plain.items() if name != KIND}
    fields = {field.name: field for field in dataclasses.fields(cls)}
    nothing = dataclasses.MISSING
    needed = {
        name
        for name, field in fields.items()
        if field.default is nothing and field.default_factory is nothing
    }
    for words, names in (
        ("lacks", needed - settings.keys()),
        ("has no setting", settings.keys() - fields.keys()),
    ):
        if names:
            raise ExitwiseError(f"the policy {plain[KIND]!r} {words} {', '.join(sorted(names))}")
    return cls(**settings)


def _written(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(layer): each for layer, each in value.items()}
    return value


def _read(value: object) -> object:
    if not isinstance(value, Mapping):
        return value
    wrong = [layer for layer in value if not str(layer).isdecimal()]
    if wrong:
        raise ExitwiseError(f"layers of a policy are numbers, found {wrong[0]!r}")
    return {int(layer): each for layer, each in value.items()}
