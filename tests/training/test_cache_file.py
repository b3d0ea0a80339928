"""A mapped file is whole or not there."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from exitwise.training.cache_file import open_or_fill

SHAPE = (5, 2, 3)
VALUES = torch.arange(30).view(SHAPE).bfloat16()


def fill_with(values: Tensor, counted: list[int] | None = None) -> Callable[[Tensor], None]:
    def fill(tensor: Tensor) -> None:
        tensor.copy_(values)
        if counted is not None:
            counted.append(1)

    return fill


def test_it_is_filled_once_and_read_back_to_the_bit(tmp_path: Path) -> None:
    file, counted = tmp_path / "folder" / "a.states", list[int]()
    for _ in range(2):
        found = open_or_fill(file, SHAPE, torch.bfloat16, fill_with(VALUES, counted))
        assert torch.equal(found, VALUES)
    assert len(counted) == 1
    assert [each.name for each in file.parent.iterdir()] == ["a.states"]


def test_one_that_was_broken_off_is_made_anew(tmp_path: Path) -> None:
    file = tmp_path / "a.states"

    def killed(tensor: Tensor) -> None:
        tensor[:2] = VALUES[:2]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open_or_fill(file, SHAPE, torch.bfloat16, killed)
    assert not file.exists()
    assert torch.equal(open_or_fill(file, SHAPE, torch.bfloat16, fill_with(VALUES)), VALUES)


@pytest.mark.parametrize("size", [0, 17, 59, 61])
def test_one_of_another_size_is_made_anew(tmp_path: Path, size: int) -> None:
    file = tmp_path / "a.states"
    file.write_bytes(b"\1" * size)
    assert torch.equal(open_or_fill(file, SHAPE, torch.bfloat16, fill_with(VALUES)), VALUES)


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="a system without fallocate")
def test_a_full_disk_is_found_before_anything_is_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    counted = list[int]()
    with pytest.raises(OSError, match="No space left"):
        open_or_fill(tmp_path / "a.states", SHAPE, torch.bfloat16, fill_with(VALUES, counted))
    assert not counted
    assert not list(tmp_path.iterdir())
