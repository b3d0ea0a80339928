"""Families of exits, policies, regimes, …: a member is known by its class name."""

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

T = TypeVar("T")


class Registry(Mapping[str, type[T]], Generic[T]):
    """The members of one family, by key.

    The key of a class is its name without the family's suffix, in snake case.

    >>> exits: Registry[object] = Registry("exit", suffix="Exit")
    >>> @exits.register
    ... class TwoLayerExit: ...
    >>> list(exits)
    ['two_layer']
    >>> exits["two_layers"]
    Traceback (most recent call last):
    ...
    ValueError: unknown exit 'two_layers', did you mean 'two_layer'? Known: two_layer
    """

    def __init__(self, family: str, *, suffix: str) -> None:
        self._family = family
        self._suffix = suffix
        self._members: dict[str, type[T]] = {}

    def register(self, member: type[T]) -> type[T]:
        """Adds a class; for use as a decorator."""
        self._members[self.key(member)] = member
        return member

    def key(self, member: type[T]) -> str:
        """The key of a class: `TwoStageRegime` is `two_stage` in the family of regimes.

        Acronyms stay whole: `MHAExit` is `mha`.
        """
        name = member.__name__.removesuffix(self._suffix)
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()

    def __getitem__(self, key: str) -> type[T]:
        if key not in self._members:
            near = difflib.get_close_matches(key, self._members, n=1)
            hint = f", did you mean {near[0]!r}?" if near else "."
            raise ValueError(f"unknown {self._family} {key!r}{hint} Known: {', '.join(self)}")
        return self._members[key]

    def __contains__(self, key: object) -> bool:
        return key in self._members

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)
