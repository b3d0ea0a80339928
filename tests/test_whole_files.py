"""Files and folders are there whole or not at all, whenever one is stopped."""

import shutil
from pathlib import Path

import pytest

from exitwise.whole_files import remove_folder, write_folder, write_text


def folder(path: Path, **files: str) -> Path:
    path.mkdir()
    for name, text in files.items():
        (path / name).write_text(text)
    return path


def names(path: Path) -> set[str]:
    return {each.name for each in path.iterdir()}


def killed(_: Path) -> None:
    raise KeyboardInterrupt


def killed_half_way(path: Path, **settings: object) -> None:
    """In place of `shutil.rmtree`."""
    if path.exists():
        (path / "config").unlink()
        raise KeyboardInterrupt


def test_a_removed_folder_is_gone_whole_though_one_is_stopped_on_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = folder(tmp_path / "model", config="{}", weights="1 2 3")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(shutil, "rmtree", killed_half_way)
        remove_folder(model)
    assert not model.exists()
    remove_folder(folder(model, config="{}"))  # what lay about is in nobody's way
    assert names(tmp_path) == set()


def test_there_is_nothing_to_remove_where_no_folder_is(tmp_path: Path) -> None:
    remove_folder(tmp_path / "none")
    assert names(tmp_path) == set()


def test_a_folder_is_replaced_whole(tmp_path: Path) -> None:
    model = folder(tmp_path / "model", old="")
    with pytest.raises(KeyboardInterrupt):
        write_folder(model, killed)
    assert names(model) == {"old"}
    write_folder(model, lambda path: write_text(path / "new", "text"))
    assert names(model) == {"new"}
    assert names(tmp_path) == {"model"}
