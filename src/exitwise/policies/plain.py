"""Policies as plain data, which JSON can hold."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from exitwise.errors import ExitwiseError
from exitwise.plain_data import read_fields
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
        ExitwiseError: the kind or a setting is unknown or missing, or a value is of
            another type or cannot occur.
    """
    try:
        cls = ExitPolicy.registry[str(plain.get(KIND))]
    except ValueError as error:
        raise ExitwiseError(str(error)) from None
    settings = {name: value for name, value in plain.items() if name != KIND}
    return cls(**read_fields(cls, settings, f"the policy {plain[KIND]!r}"))


def _written(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(layer): each for layer, each in value.items()}
    return value
