"""Tables as JSON gives them, read for the fields of a dataclass by type hints alone."""

import dataclasses
import types
from collections.abc import Mapping
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from exitwise.errors import ExitwiseError

WORDS: dict[object, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    types.NoneType: "null",
}


def read_fields(cls: type, table: Mapping[str, Any], what: str) -> dict[str, Any]:
    """The values for the fields of a dataclass; a field with a default may be left out.

    Args:
        cls: the dataclass, of scalars, `Literal`, unions, tuples, lists and mappings.
        table: what was read.
        what: is read, for error messages.

    Raises:
        ExitwiseError: a key is missing or unknown, or its value is of the wrong type.
    """
    fields = {field.name: field for field in dataclasses.fields(cls)}
    nothing = dataclasses.MISSING
    needed = {
        name
        for name, field in fields.items()
        if field.default is nothing and field.default_factory is nothing
    }
    for words, names in (
        ("lacks", needed - table.keys()),
        ("has no setting", table.keys() - fields.keys()),
    ):
        if names:
            raise ExitwiseError(f"{what} {words} {', '.join(sorted(names))}")
    hints = get_type_hints(cls)
    return {name: _read(hints[name], value, f"{what}: {name}") for name, value in table.items()}


def _read(hint: Any, value: Any, key: str) -> Any:  # noqa: ANN401 - a type and what may be of it
    """The value as the type wants it: tuples of lists, keys that are numbers of text."""
    if hint is Any:
        return value
    fitting = next((each for each in _options(hint) if _is(each, value)), None)
    if fitting is None:
        expected = " or ".join(map(_in_words, _options(hint)))
        raise ExitwiseError(f"{key} must be {expected}, found {value!r:.60}")
    items = get_args(fitting)
    if isinstance(value, Mapping):
        return {
            _read_key(items[0], name, key): _read(items[1], each, f"{key}.{name}")
            for name, each in value.items()
        }
    if isinstance(value, list | tuple):
        read = [_read(items[0], each, f"{key}[{place}]") for place, each in enumerate(value)]
        return tuple(read) if get_origin(fitting) is tuple else read
    return float(value) if fitting is float else value


def _read_key(hint: object, name: object, key: str) -> object:
    """JSON writes all keys as text."""
    if hint is not int:
        return name
    if not str(name).isdecimal():
        raise ExitwiseError(f"{key}: the keys must be whole numbers, found {name!r:.60}")
    return int(str(name))


def _options(hint: object) -> tuple[object, ...]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def _is(hint: object, value: object) -> bool:
    """Whether a value is of a type, what it contains aside."""
    origin = get_origin(hint)
    if origin is Literal:
        return value in get_args(hint)
    if origin is not None:
        return isinstance(value, list | tuple if origin in (list, tuple) else Mapping)
    return type(value) is hint or (hint is float and type(value) is int)  # True is an int


def _in_words(hint: object) -> str:
    origin = get_origin(hint)
    if origin is Literal:
        return " or ".join(map(repr, get_args(hint)))
    if origin is not None:
        return "a list" if origin in (list, tuple) else "a table"
    return WORDS[hint]
