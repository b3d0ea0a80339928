"""Where the hidden states of a frozen encoder are kept: in memory, on disk or not at all."""

import hashlib
import logging
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import psutil
import torch

from exitwise.data import EncodedTexts
from exitwise.errors import ExitwiseError
from exitwise.modeling import MultiExitForSequenceClassification
from exitwise.training.cache_file import num_bytes
from exitwise.training.hidden_states import states_shape

logger = logging.getLogger(__name__)

Place = Literal["memory", "disk", "nowhere"]

GIGABYTE = 10**9
SHARE_OF_MEMORY = 0.5  # of what is available; the rest is for the exits, and for others
DISK_RESERVE = 2 * GIGABYTE  # what a cache leaves free


@dataclass(frozen=True, kw_only=True)
class CacheSettings:
    """How much may be kept, and where; no result depends on it.

    Attributes:
        budget: bytes that a stage may keep.
        folder: of files, if memory does not suffice; the run folder's own if `None`.
        keep: leave the files, for a later stage on the same encoder, texts and precision.
        memory: use memory where it suffices; files alone can be shared by later stages.
    """

    budget: int = 8 * GIGABYTE
    folder: Path | None = None
    keep: bool = False
    memory: bool = True


def parse_bytes(text: str) -> int:
    """A number of bytes.

    >>> parse_bytes("1.5GB"), parse_bytes("200 MB"), parse_bytes("0")
    (1500000000, 200000000, 0)
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kMGT]?)B?", text.strip())
    if match is None:
        raise ExitwiseError(
            f"a size is a number with kB, MB, GB or TB, such as 8GB, found {text!r}"
        )
    factor: int = 1000 ** " kMGT".index(match[2] or " ")
    return round(float(match[1]) * factor)


def choose_place(
    size: int, settings: CacheSettings, folder: Path, *, available: int | None = None
) -> Place:
    """Memory if it suffices, then the disk, within the budget; says so in the log.

    Args:
        size: bytes of all states of the stage.
        settings: budget.
        folder: where files would lie.
        available: bytes of free memory; asked of the system if `None`.
    """
    wanted = f"hidden states of the frozen encoder, {size / 1e6:,.0f} MB,"
    computed = "are computed in each epoch"
    if available is None:
        available = int(psutil.virtual_memory().available)
    if size > settings.budget:
        logger.info("%s %s: budget %.0f MB", wanted, computed, settings.budget / 1e6)
        return "nowhere"
    if settings.memory and size <= SHARE_OF_MEMORY * available:
        logger.info("%s are kept in memory", wanted)
        return "memory"
    free = shutil.disk_usage(nearest_folder(folder)).free
    if size + DISK_RESERVE <= free:
        logger.info("%s are kept in %s", wanted, folder)
        return "disk"
    logger.info(
        "%s %s: %.0f MB of memory and %.0f MB of disk are free",
        wanted,
        computed,
        available / 1e6,
        free / 1e6,
    )
    return "nowhere"


def stage_bytes(
    model: MultiExitForSequenceClassification,
    texts: Sequence[EncodedTexts],
    dtype: torch.dtype,
) -> int:
    """The size of the hidden states of all texts."""
    return sum(num_bytes(states_shape(model, each), dtype) for each in texts)


def cache_name(
    model: MultiExitForSequenceClassification, texts: EncodedTexts, dtype: torch.dtype
) -> str:
    """A file name that tells encoder, layers, token ids and type apart."""
    digest = hashlib.sha256(repr((str(dtype), model.exit_layers, texts.lengths)).encode())
    for name, tensor in model.encoder.state_dict().items():
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy())
    for index in range(len(texts)):
        row = {name: value for name, value in texts[index].items() if name != "labels"}
        digest.update(repr(row).encode())
    return f"{digest.hexdigest()[:24]}.states"


def nearest_folder(folder: Path) -> Path:
    """The folder, or the nearest above it that exists."""
    path = folder.resolve()
    return next(each for each in (path, *path.parents) if each.exists())
