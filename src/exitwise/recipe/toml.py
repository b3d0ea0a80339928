"""Plain data as TOML text."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

import tomli_w

from exitwise.errors import RecipeError


def dumps_toml(plain: Mapping[str, object]) -> str:
    """The text that `tomllib.loads` turns back into the same data.

    >>> print(dumps_toml({"seed": 1, "exit": {"kind": "mha"}}), end="")
    seed = 1
    <BLANKLINE>
    [exit]
    kind = "mha"
    """
    return tomli_w.dumps(plain)


def read_toml(path: Path) -> dict[str, object]:
    """The content of a file; a `RecipeError` names the file and, in broken TOML, the place."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RecipeError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise RecipeError(f"{path}: not UTF-8 text at byte {error.start}") from error
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(f"{path}: {error}") from error
