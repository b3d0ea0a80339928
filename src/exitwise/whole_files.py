"""Files and folders that are written whole or not at all."""

import shutil
from collections.abc import Callable
from pathlib import Path


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
    shutil.rmtree(path, ignore_errors=True)
    partial.rename(path)
