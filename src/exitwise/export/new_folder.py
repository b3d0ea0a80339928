"""Exports go to new folders: nothing that is there is ever replaced."""

from pathlib import Path

from exitwise.errors import ExitwiseError


def check_is_new(folder: Path) -> None:
    """Whether nothing has that name yet.

    Raises:
        ExitwiseError: something has.
    """
    if folder.exists():
        raise ExitwiseError(f"{folder} exists: export to a new folder, or remove it")
