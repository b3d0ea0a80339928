"""Parts of a set of texts, drawn by seed, in which every class has its share."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from exitwise.data.texts import TextDataset
from exitwise.errors import DataError


def stratified_sample(texts: TextDataset, num_rows: int, *, seed: int) -> TextDataset:
    """So many labelled rows in their former order; all rows if there are no more."""
    if num_rows >= len(texts):
        return texts
    chosen = stratified_rows(texts, num_rows, seed=seed)
    return texts.select(chosen.tolist(), note=f"{num_rows} of {len(texts)} rows, seed {seed}")


def split_off(texts: TextDataset, fraction: float, *, seed: int) -> tuple[TextDataset, TextDataset]:
    """Training and validation rows; the latter are a fraction, and one at least.

    A class of one row stays in training.
    """
    num_validation = max(1, round(fraction * len(texts)))
    kept = stratified_rows(texts, len(texts) - num_validation, seed=seed)
    rest = np.setdiff1d(np.arange(len(texts)), kept)
    train = texts.select(kept.tolist(), note=f"{len(kept)} rows, without validation, seed {seed}")
    return train, texts.select(rest.tolist(), note=f"{len(rest)} rows split off, seed {seed}")


def stratified_rows(texts: TextDataset, num_rows: int, *, seed: int) -> npt.NDArray[np.int64]:
    """The indices of so many rows in ascending order, of each class its share, one at least.

    Raises:
        DataError: there are more classes than rows to choose.
    """
    random = np.random.default_rng(seed)
    values = np.asarray(texts.labels)
    classes, counts = np.unique(values, return_counts=True)
    if num_rows < len(classes):
        raise DataError(
            f"{texts.source}: training on {num_rows} of {len(texts)} rows cannot show "
            f"{len(classes)} classes; give more training rows, or a validation set of its own"
        )
    chosen = [
        random.permutation(np.flatnonzero(values == label))[:share]
        for label, share in zip(classes, shares(counts, num_rows), strict=True)
    ]
    return np.sort(np.concatenate(chosen))


def shares(counts: Sequence[int] | npt.NDArray[np.int64], total: int) -> list[int]:
    """`total` places among classes in proportion to their rows, one at least for each.

    Places that rounding down leaves over go to the largest remainders.

    >>> shares([60, 30, 10], 10), shares([7, 2, 1], 5), shares([98, 1, 1], 10)
    ([6, 3, 1], [3, 1, 1], [8, 1, 1])
    """
    quota = np.asarray(counts) * total / np.sum(counts)
    given = np.maximum(np.floor(quota), 1)
    while given.sum() < total:
        given[np.argmax(quota - given)] += 1
    while given.sum() > total:
        given[np.argmax(np.where(given > 1, given - quota, -np.inf))] -= 1
    return [int(places) for places in given]
