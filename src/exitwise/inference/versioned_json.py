"""JSON files of a model's folder that say which format they have."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from exitwise.errors import ExitwiseError
from exitwise.whole_files import write_text

Content = TypeVar("Content")


def write_json(path: Path, plain: Mapping[str, Any]) -> None:
    """Writes the file, whole or not at all."""
    write_text(path, json.dumps(plain, indent=2) + "\n")


def read_json(
    path: Path,
    content: Callable[[dict[str, Any]], Content],
    *,
    version: int,
    kind: str,
    remedy: str,
) -> Content:
    """What a file holds, `content` of its table, if its `format_version` is the one expected.

    Args:
        path: the file.
        content: takes what is wanted out of a table of that version.
        version: the one that this exitwise reads.
        kind: of file, in words.
        remedy: what to do if it cannot be read.

    Raises:
        ExitwiseError: the file is damaged, or of another version.
    """
    no_such = ExitwiseError(f"{path} is no {kind}: {remedy}")
    try:
        plain = dict(json.loads(path.read_text(encoding="utf-8")))
        found = plain["format_version"]
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        raise no_such from None
    if found != version or type(found) is not int:  # True is 1, too
        raise ExitwiseError(
            f"{path} has the format version {found!r}, this exitwise reads {version}: "
            f"install the version that wrote it, or {remedy}"
        )
    try:
        return content(plain)
    except (ValueError, KeyError, TypeError):
        raise no_such from None
