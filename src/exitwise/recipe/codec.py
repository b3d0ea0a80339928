"""Between a tree of frozen dataclasses and plain data, which is what TOML can hold.

    dataclass            table; a member of a family names its class by `kind`
    tuple                array
    dict                 table of names that no class knows
    None                 left out where it is the default, else the text "none"
    bool int float str   themselves

Reading starts from the defaults of the tree and changes what is given. So a table may hold a
single key, and a table without `kind` keeps the class of the default.
"""

import dataclasses
import hashlib
import json
import types
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from exitwise.errors import RecipeError
from exitwise.recipe.families import KIND, choose, is_table, kind_of, members
from exitwise.recipe.messages import join, misfit, no_choice, unknown_key

T = TypeVar("T")

NOTHING = "none"
"""How `None` is written where it is not the default: TOML has no word for it."""

NO_DEFAULT = dataclasses.MISSING
SCALARS: dict[object, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
}


def to_plain(settings: object) -> dict[str, object]:
    """The settings as nested dictionaries, all defaults written out.

    >>> from exitwise.exits import LinearExitConfig
    >>> to_plain(LinearExitConfig(bias=True))
    {'kind': 'linear', 'dropout': 0.1, 'bias': True, 'embedding': 'before_dropout'}
    """
    return _write_table(settings, NO_DEFAULT)


def from_plain(cls: type[T], table: Mapping[str, object], path: str = "") -> T:
    """The inverse of `to_plain`; what is not given takes its default.

    Args:
        cls: a dataclass, or the base class of a family.
        table: nested dictionaries, as TOML is read.
        path: where the table stands in a recipe, for error messages.

    Raises:
        RecipeError: a key is unknown or missing, a value is of the wrong type, or the class
            itself refuses its values. The message names the key by its dotted path.
    """
    settings = _read_table([cls], table, path, NO_DEFAULT)
    assert isinstance(settings, cls)
    return settings


def recipe_hash(settings: object) -> str:
    """Twelve digits that are equal for equal settings, however they were written.

    A field that is `None` by default does not count while it is, so that a later version can add
    options without giving old recipes new names.
    """
    return plain_hash(to_plain(from_plain(type(settings), to_plain(settings))))  # 1 is 1.0


def plain_hash(table: Mapping[str, object]) -> str:
    """`recipe_hash` of settings as `to_plain` wrote them, also those of an earlier version."""
    text = json.dumps(table, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _write_table(settings: object, default: object) -> dict[str, object]:
    cls = type(settings)
    kind, hints, base = kind_of(cls), get_type_hints(cls), _base(default, cls)
    table: dict[str, object] = {} if kind is None else {KIND: kind}
    for name, field in _fields(cls).items():
        value, usual = getattr(settings, name), _default(field, base)
        if value is None and usual is None:
            continue
        if value == NOTHING and types.NoneType in get_args(hints[name]):
            raise RecipeError(f"{name} cannot be the text 'none', which is written for no value")
        table[name] = _write(value, usual, name)
    return table


def _write(value: object, default: object, name: str) -> object:
    if value is None:
        return NOTHING
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple):
        return [_write(item, NO_DEFAULT, name) for item in value]
    if isinstance(value, dict):
        return {key: _write(item, NO_DEFAULT, name) for key, item in value.items()}
    if dataclasses.is_dataclass(value):
        return _write_table(value, default)
    raise RecipeError(f"{name} cannot be written in a recipe, found {value!r}")


def _read(hint: object, value: object, path: str, default: object) -> object:
    """A value of the type `hint`."""
    options = get_args(hint)
    if isinstance(hint, type) and is_table(hint):
        return _read_table([hint], value, path, default)
    if get_origin(hint) in (Union, types.UnionType):
        return _read_union(options, value, path, default)
    if get_origin(hint) is Literal:
        return _read_choice(options, value, path)
    if get_origin(hint) is tuple:
        return _read_tuple(options, value, path)
    if get_origin(hint) is dict:
        return _read_names(options[1], value, path)
    if hint is object:
        return value
    if hint in SCALARS:
        return _read_scalar(hint, value, path)
    raise RecipeError(f"{path} cannot be set in a recipe")


def _read_table(options: Sequence[type], value: object, path: str, default: object) -> object:
    if isinstance(value, str) and any(members(option) for option in options):
        value = {KIND: value}
    if not isinstance(value, Mapping):
        raise misfit(path, "a table", value)
    cls = choose(options, value, path, default=_class_of(default))
    base, fields, hints = _base(default, cls), _fields(cls), get_type_hints(cls)
    given = dict(value)
    if kind_of(cls) is not None:
        given.pop(KIND, None)
    for name in given:
        if name not in fields:
            raise unknown_key(path, name, fields)
    read = {
        name: _read(hints[name], item, join(path, name), _default(fields[name], base))
        for name, item in given.items()
    }
    return _build(cls, read, base, path)


def _build(cls: type, read: dict[str, object], base: object, path: str) -> object:
    """The instance, with the values of `base` or the defaults of the class for what is not read."""
    values = read if base is NO_DEFAULT else {n: getattr(base, n) for n in _fields(cls)} | read
    for name, field in _fields(cls).items():
        if name not in values and _default(field, NO_DEFAULT) is NO_DEFAULT:
            raise RecipeError(f"{join(path, name)} is missing")
    try:
        return cls(**values)
    except ValueError as error:
        raise RecipeError(f"{path}: {error}" if path else str(error)) from error


def _read_union(options: Sequence[Any], value: object, path: str, default: object) -> object:
    if types.NoneType in options and value == NOTHING:
        return None
    options = [option for option in options if option is not types.NoneType]
    if all(map(is_table, options)):
        return _read_table(options, value, path, default)
    errors = []
    for option in options:
        try:
            return _read(option, value, path, default)
        except RecipeError as error:
            errors.append(str(error))
    raise RecipeError("; ".join(errors))


def _read_choice(choices: Sequence[object], value: object, path: str) -> object:
    for choice in choices:
        if choice == value and type(choice) is type(value):  # True == 1
            return choice
    raise no_choice(path, choices, value)


def _read_tuple(items: Sequence[object], value: object, path: str) -> object:
    """A tuple of any length (`tuple[int, ...]`) or of a fixed one (`tuple[float, float]`)."""
    if not isinstance(value, list | tuple):
        raise misfit(path, "an array", value)
    hints = [items[0]] * len(value) if items[-1] is Ellipsis else items
    if len(hints) != len(value):
        raise misfit(path, f"an array of {len(hints)}", value)
    return tuple(
        _read(hint, item, f"{path}[{index}]", NO_DEFAULT)
        for index, (hint, item) in enumerate(zip(hints, value, strict=True))
    )


def _read_names(hint: object, value: object, path: str) -> dict[str, object]:
    """A table whose keys are free, with values of one type; `object` takes anything."""
    if not isinstance(value, Mapping):
        raise misfit(path, "a table", value)
    return {name: _read(hint, item, join(path, name), NO_DEFAULT) for name, item in value.items()}


def _read_scalar(hint: object, value: object, path: str) -> object:
    if hint is float and type(value) is int:
        return float(value)
    if type(value) is not hint:  # not isinstance: True is an int
        raise misfit(path, SCALARS[hint], value)
    return value


def _fields(cls: type) -> dict[str, dataclasses.Field[Any]]:
    if not dataclasses.is_dataclass(cls):
        raise TypeError(f"only a dataclass can be written as a table, found {cls.__name__}")
    return {field.name: field for field in dataclasses.fields(cls) if field.init}


def _default(field: dataclasses.Field[Any], base: object) -> object:
    """What the field holds if nothing is given: a value, or the class that makes it."""
    if base is not NO_DEFAULT:
        return getattr(base, field.name)
    if field.default_factory is dataclasses.MISSING:
        return field.default
    is_class = dataclasses.is_dataclass(field.default_factory)
    return field.default_factory if is_class else field.default_factory()


def _class_of(default: object) -> type | None:
    """The class that a table without kind describes."""
    cls = default if isinstance(default, type) else type(default)
    return cls if dataclasses.is_dataclass(cls) else None


def _base(default: object, cls: type) -> object:
    """The instance whose values hold where nothing is given, if the default is of the class."""
    return default if type(default) is cls else NO_DEFAULT
