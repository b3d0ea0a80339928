"""What is said of a recipe that does not fit: the key, what would do, what was found."""

import difflib
from collections.abc import Collection, Mapping

from exitwise.errors import RecipeError


def join(path: str, name: str) -> str:
    """The dotted path of a key in a table; the recipe itself has the path "".

    >>> join("regime", "epochs"), join("", "seed")
    ('regime.epochs', 'seed')
    """
    return f"{path}.{name}" if path else name


def misfit(path: str, expected: str, found: object) -> RecipeError:
    """The value of a key is of the wrong type.

    >>> print(misfit("seed", "a whole number", {"a": 1}))
    seed must be a whole number, found a table
    """
    shown = "a table" if isinstance(found, Mapping) else repr(found)
    return RecipeError(f"{path or 'a recipe'} must be {expected}, found {shown}")


def no_choice(path: str, choices: Collection[object], found: object) -> RecipeError:
    """The value of a key is none of those that there are.

    >>> print(no_choice("regime.unit", ["epoch", "step"], "epochs"))
    regime.unit must be 'epoch' or 'step', found 'epochs', did you mean 'epoch'?
    """
    error = misfit(path, " or ".join(map(repr, choices)), found)
    return RecipeError(f"{error}{_nearest(found, choices)}")


def unknown_key(path: str, name: str, known: Collection[str]) -> RecipeError:
    """A table has a key that its class lacks.

    >>> print(unknown_key("regime", "epoch", ["epochs", "unit"]))
    unknown key regime.epoch, did you mean 'epochs'? Known in regime: epochs, unit
    """
    near = _nearest(name, known) or "."
    where = path or "a recipe"
    return RecipeError(f"unknown key {join(path, name)}{near} Known in {where}: {', '.join(known)}")


def _nearest(found: object, known: Collection[object]) -> str:
    names = [name for name in known if isinstance(name, str)]
    near = difflib.get_close_matches(found, names, n=1) if isinstance(found, str) else []
    return f", did you mean {near[0]!r}?" if near else ""
