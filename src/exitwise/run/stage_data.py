"""What a stage reads: token ids, or the hidden states of an encoder that is frozen."""

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from exitwise.data import PadBatch
from exitwise.recipe import Recipe
from exitwise.regimes import Stage
from exitwise.run.material import Material
from exitwise.training import (
    CacheSettings,
    Collate,
    Rows,
    cache_hidden_states,
    cache_name,
    choose_place,
    dtype_of,
    pad_hidden_states,
    stage_bytes,
)

logger = logging.getLogger(__name__)


class StageData(NamedTuple):
    """What a stage reads."""

    train: Rows
    validation: Rows
    collate: Collate


@contextmanager
def stage_data(
    stage: Stage, recipe: Recipe, material: Material, cache: CacheSettings, folder: Path
) -> Iterator[StageData]:
    """The data of a stage while it runs; files of hidden states go with it unless they are kept.

    Args:
        stage: what is trained.
        recipe: the precision of the encoder.
        material: texts and model.
        cache: how much may be kept.
        folder: where files lie if `cache` names no other.
    """
    pad = PadBatch(material.tokenizer)
    texts = (material.train, material.first_validation)
    token_ids = StageData(*texts, pad)
    if not stage.freeze_encoder:
        yield token_ids
        return
    dtype = dtype_of(recipe.training.precision)
    folder = cache.folder or folder
    place = choose_place(stage_bytes(material.model, texts, dtype), cache, folder)
    if place == "nowhere":
        yield token_ids
        return
    files = [
        folder / cache_name(material.model, each, dtype) if place == "disk" else None
        for each in texts
    ]
    try:
        train, validation = (
            cache_hidden_states(
                material.model, each, pad, precision=recipe.training.precision, file=file
            )
            for each, file in zip(texts, files, strict=True)
        )
    except OSError as error:
        logger.warning("hidden states are computed in each epoch after all: %s", error)
        yield token_ids
        return
    yield StageData(train, validation, pad_hidden_states)
    if not cache.keep:
        remove(files, folder)


def remove(files: Iterable[Path | None], folder: Path) -> None:
    """Removes files, and their folder if nothing else is in it."""
    for file in files:
        if file is not None:
            file.unlink(missing_ok=True)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
