"""Which class a table of a recipe stands for: the member of a family that its `kind` names."""

import dataclasses
import inspect
from collections.abc import Mapping, Sequence

from exitwise.errors import RecipeError
from exitwise.recipe.messages import join, no_choice
from exitwise.registry import Registry

KIND = "kind"


def members(base: type) -> dict[str, type]:
    """The dataclasses, by kind, that may stand where `base` is asked for.

    A family is a class with a `registry`. Its members are the registered classes, or the
    `config_class` of each where what is registered takes more than settings to build. A class
    outside all families has no members.
    """
    registry = getattr(base, "registry", None)
    if not isinstance(registry, Registry):
        return {}
    settings = {kind: getattr(member, "config_class", member) for kind, member in registry.items()}
    return {kind: member for kind, member in settings.items() if issubclass(member, base)}


def kind_of(member: type) -> str | None:
    """The kind of a member of a family, `None` for a class outside all families."""
    return next((kind for kind, other in members(member).items() if other is member), None)


def is_table(hint: object) -> bool:
    """Whether values of this type are written as a table: dataclasses and families."""
    return isinstance(hint, type) and (dataclasses.is_dataclass(hint) or bool(members(hint)))


def choose(
    options: Sequence[type], table: Mapping[str, object], path: str, *, default: type | None
) -> type:
    """The class that a table describes: by its kind, else the default's, else the only one."""
    choices = {kind: member for option in options for kind, member in members(option).items()}
    if choices and KIND in table:
        kind = table[KIND]
        if not isinstance(kind, str) or kind not in choices:
            raise no_choice(join(path, KIND), choices, kind)
        return choices[kind]
    if default is not None:
        return default
    if len(options) == 1 and _is_concrete(options[0], choices):
        return options[0]
    raise RecipeError(f"{join(path, KIND)} is missing, one of {', '.join(choices)}")


def _is_concrete(option: type, choices: Mapping[str, type]) -> bool:
    """Whether the class itself can be built, not only members of its family."""
    return not inspect.isabstract(option) and (not choices or option in choices.values())
