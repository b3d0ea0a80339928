"""The order in which training sees its rows."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Float
from torch import Tensor
from torch.utils.data import Sampler

Order = npt.NDArray[np.int64]


class LengthBucketSampler(Sampler[int]):
    """Every row once an epoch, rows of similar length side by side.

    Each length is multiplied by a random factor in [1 - noise, 1 + noise] and the rows are sorted
    by the product. Runs of `batch_size` rows are batches, in random order; the rest, from a
    random place of the sorted order, comes last. The order depends on seed and epoch alone, so
    that a resumed run sees the same.

    Args:
        lengths: tokens of each row.
        batch_size: rows of a micro-batch.
        seed: of the run.
        noise: 0 sorts by length alone; more makes batches differ more between epochs.
    """

    def __init__(
        self, lengths: Sequence[int], *, batch_size: int, seed: int, noise: float = 0.1
    ) -> None:
        if batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, found {batch_size}")
        if not 0 <= noise < 1:
            raise ValueError(f"noise must be in [0, 1), found {noise}")
        self._lengths = np.asarray(lengths, dtype=np.float64)
        self._batch_size = batch_size
        self._seed = seed
        self._noise = noise
        self._epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Chooses the order of this epoch, counted from 0."""
        self._epoch = epoch

    def __len__(self) -> int:
        return len(self._lengths)

    def __iter__(self) -> Iterator[int]:
        random = np.random.default_rng((self._seed, self._epoch))
        order = self._by_noisy_length(random)
        num_batches, num_left = divmod(len(order), self._batch_size)
        start = self._batch_size * int(random.integers(num_batches + 1))
        last = order[start : start + num_left]
        full = np.delete(order, slice(start, start + num_left)).reshape(-1, self._batch_size)
        yield from random.permutation(full).flatten().tolist()
        yield from last.tolist()

    def _by_noisy_length(self, random: np.random.Generator) -> Order:
        """Rows of equal length come in random order, also without noise."""
        shuffled = random.permutation(len(self._lengths))
        factor = random.uniform(1 - self._noise, 1 + self._noise, len(shuffled))
        return shuffled[np.argsort(self._lengths[shuffled] * factor, kind="stable")]


class ClassBalancedSampler(Sampler[int]):
    """Each class equally often, in random order, in an epoch of as many rows as there are.

    Of n rows and K classes each class gives n/K rows (the remainder goes to classes chosen at
    random). A class with more rows gives a random part of them; a class with fewer gives each of
    its rows equally often, up to one. The order depends on seed and epoch alone.

    Args:
        labels: of each row; a class without rows is none.
        seed: of the run.
    """

    def __init__(self, labels: Sequence[int], *, seed: int) -> None:
        self._labels = np.asarray(labels, dtype=np.int64)
        if (self._labels < 0).any():
            raise ValueError("every row needs a label of at least 0, found unlabelled rows")
        self._seed = seed
        self._epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Chooses the order of this epoch, counted from 0."""
        self._epoch = epoch

    def __len__(self) -> int:
        return len(self._labels)

    def __iter__(self) -> Iterator[int]:
        random = np.random.default_rng((self._seed, self._epoch))
        classes = random.permutation(np.unique(self._labels))
        rows = [
            # The shares n/K, (n+1)/K, … (n+K-1)/K, each rounded down, add up to n.
            evenly(np.flatnonzero(self._labels == each), (len(self) + i) // len(classes), random)
            for i, each in enumerate(classes)
        ]
        yield from random.permutation(np.concatenate([self._labels[:0], *rows])).tolist()


def evenly(rows: Order, size: int, random: np.random.Generator) -> Order:
    """`size` of these rows, each as often as any other, up to one."""
    repeats, num_more = divmod(size, len(rows))
    more = random.permutation(rows)[:num_more]
    return np.concatenate([np.repeat(rows, repeats), more])


def class_weights(labels: Sequence[int], num_labels: int) -> Float[Tensor, " k"]:
    r"""Weights of the classes in cross-entropy, larger for rarer ones.

    $n / (K n_c)$ for a class of $n_c$ of the $n$ rows, so that the weights of all rows have the
    mean one. A class without rows has no weight: an error.

    >>> class_weights([0, 0, 0, 1], 2)
    tensor([0.6667, 2.0000])
    """
    counts = torch.bincount(torch.tensor(labels, dtype=torch.long), minlength=num_labels)
    if len(counts) > num_labels:
        raise ValueError(f"labels must be below {num_labels}, found {len(counts) - 1}")
    if (counts == 0).any():
        absent = (counts == 0).nonzero().flatten().tolist()
        raise ValueError(f"a class without rows has no weight, found none of {absent}")
    return len(labels) / (num_labels * counts.float())
