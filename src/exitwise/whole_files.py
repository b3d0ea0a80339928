"""Files and folders that are there whole or not at all."""

import shutil
from collections.abc import Callable
from pathlib import Path

REMOVED = ".removed"
"""Ends the name of a folder while it is removed; after a kill such a folder lies about."""


def write_text(path: Path, text: str) -> None:
    """Writes a file whole or not at all."""
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def write_folder(path: Path, write: Callable[[Path], object]) -> None:
    """Writes a folder whole or not at all; an earlier one of that name is replaced."""
    partial = path.with_name(path.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    write(partial)
    remove_folder(path)
    partial.rename(path)


def remove_folder(path: Path) -> None:
    """Removes a folder, if it is there; nobody ever finds a part of it under its name."""
    removed = path.with_name(path.name + REMOVED)
    shutil.rmtree(removed, ignore_errors=True)  # of a removal that was broken off
    if path.is_dir():
        path.rename(removed)
        shutil.rmtree(removed, ignore_errors=True)
