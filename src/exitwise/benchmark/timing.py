"""Times of several systems, taken in turn on the same texts."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

Call = Callable[[Sequence[str], Sequence[str] | None], object]

Texts = tuple[Sequence[str], Sequence[str] | None]
"""Texts, and the texts beside them if they are pairs."""

RESAMPLES = 1000

BLOCK = 10
"""Calls that a system answers one after the other, since a deployed system has the caches of the
processor to itself."""


@dataclass(frozen=True)
class Times:
    """How long the calls of a system took.

    Attributes:
        milliseconds: [calls], of each the median over the rounds.
        texts: of one call.
    """

    milliseconds: Float[ndarray, " c"]
    texts: int

    @property
    def mean(self) -> float:
        """Milliseconds a text, on average over the calls."""
        return float(self.milliseconds.mean() / self.texts)

    def percentile(self, share: int) -> float:
        """Milliseconds of a call that so many percent of the calls do not exceed."""
        return float(np.percentile(self.milliseconds, share))

    @property
    def throughput(self) -> float:
        """Texts a second."""
        return 1000 / self.mean

    def speedup(self, other: "Times") -> float:
        """How many times as long the other takes for the same texts."""
        return other.mean / self.mean

    def speedup_interval(self, other: "Times", *, seed: int = 0) -> tuple[float, float]:
        """Between which two factors 95 % of redrawn sets of calls lie."""
        generator = np.random.default_rng(seed)
        drawn = generator.integers(len(self.milliseconds), size=(RESAMPLES, len(self.milliseconds)))
        factors = other.milliseconds[drawn].sum(axis=1) / self.milliseconds[drawn].sum(axis=1)
        low, high = np.percentile(factors, [2.5, 97.5])
        return float(low), float(high)


def interleaved(
    systems: Mapping[str, Call], calls: Sequence[Texts], *, rounds: int, warmup: int
) -> dict[str, Times]:
    """Times each call by every system; the systems take turns, block by block of calls.

    Whatever slows the machine for a while slows all systems, and each comes first, second and last
    equally often. The first call of a block is answered once more before it, and not counted.

    Args:
        systems: what answers texts, by name; nothing of it may be left running on a device.
        calls: the texts of each call, as many in each.
        rounds: how often each call is timed; its median counts.
        warmup: calls that are answered beforehand by all systems and not counted.
    """
    for texts in calls[:warmup]:
        for answer in systems.values():
            answer(*texts)
    names = list(systems)
    found = {name: np.zeros((rounds, len(calls))) for name in names}
    blocks = [range(len(calls))[start : start + BLOCK] for start in range(0, len(calls), BLOCK)]
    for turn in range(rounds):
        for number, block in enumerate(blocks):
            first = (turn + number) % len(names)
            for name in (*names[first:], *names[:first]):
                systems[name](*calls[block[0]])
                for call in block:
                    started = time.perf_counter()
                    systems[name](*calls[call])
                    found[name][turn, call] = 1000 * (time.perf_counter() - started)
    size = len(calls[0][0])
    return {name: Times(np.median(times, axis=0), size) for name, times in found.items()}


def calls_of(
    texts: Sequence[str], pairs: Sequence[str] | None, *, size: int, most: int
) -> list[Texts]:
    """At most so many calls of `size` texts, taken evenly from all.

    >>> calls_of(["a", "b", "c", "d"], None, size=1, most=2)
    [(['a'], None), (['c'], None)]
    """
    number = max(1, min(most, len(texts) // size))
    count = min(size * number, len(texts))
    rows = [int(row) for row in np.arange(count) * (len(texts) / count)]
    parts = [rows[start : start + size] for start in range(0, len(rows), size)]
    return [
        ([texts[row] for row in part], None if pairs is None else [pairs[row] for row in part])
        for part in parts
    ]
