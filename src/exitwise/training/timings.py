"""Where the time of a stage goes."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import torch


class Timings:
    """Seconds by part, summed over the steps of a stage. Parts may not lie within each other.

    On an accelerator each part waits until its work is done, which costs some time itself.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._began = now()

    @contextmanager
    def measure(self, part: str) -> Iterator[None]:
        """Adds the time until the context ends to a part."""
        started = now()
        try:
            yield
        finally:
            self.seconds[part] = self.seconds.get(part, 0.0) + now() - started

    def table(self) -> dict[str, float]:
        """All parts from large to small, then what no part has measured."""
        ordered = sorted(self.seconds.items(), key=lambda item: -item[1])
        rest = now() - self._began - sum(self.seconds.values())
        return {part: round(seconds, 2) for part, seconds in [*ordered, ("other", rest)]}


def now() -> float:
    """Seconds, when what was begun on an accelerator has ended."""
    if torch.accelerator.is_available():
        torch.accelerator.synchronize()
    return time.perf_counter()
