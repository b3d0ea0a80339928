"""A large tensor in a file, mapped into memory, that is whole or not there."""

import math
import os
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor


def open_or_fill(
    file: Path, shape: tuple[int, ...], dtype: torch.dtype, fill: Callable[[Tensor], None]
) -> Tensor:
    """The tensor of a file that is whole, else a new one.

    It is written under another name and renamed when all of it is on the disk, so that a file
    that a kill has cut short is never taken for a whole one.

    Raises:
        OSError: the disk has not got the space, which is claimed before anything is computed.
    """
    if file.exists() and file.stat().st_size == num_bytes(shape, dtype):
        return mapped(file, shape, dtype)
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(file.name + ".partial")
    try:
        claim(partial, num_bytes(shape, dtype))
        fill(mapped(partial, shape, dtype))
    except OSError:
        partial.unlink(missing_ok=True)
        raise
    with partial.open("rb+") as written:
        os.fsync(written.fileno())
    partial.replace(file)
    return mapped(file, shape, dtype)


def claim(file: Path, size: int) -> None:
    """Makes a file of that size whose blocks exist: a mapped file cannot report a full disk."""
    with file.open("wb") as handle:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(handle.fileno(), 0, size)
        else:
            handle.truncate(size)


def mapped(file: Path, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """The content of a file as a tensor; what is written to it is written to the file."""
    flat = torch.from_file(str(file), shared=True, size=math.prod(shape), dtype=dtype)
    return flat.view(shape)


def num_bytes(shape: tuple[int, ...], dtype: torch.dtype) -> int:
    """The size of a tensor.

    >>> num_bytes((2, 3), torch.bfloat16)
    12
    """
    return math.prod(shape) * dtype.itemsize
