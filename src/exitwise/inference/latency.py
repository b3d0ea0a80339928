"""How long a text takes to leave at each exit."""

import statistics
import time
from collections.abc import Sequence
from typing import Any

from exitwise.inference.early_exit import EarlyExit
from exitwise.inference.engine import Engine
from exitwise.policies import FixedPolicy


def latencies(
    engine: Engine[Any],
    texts: Sequence[str],
    pairs: Sequence[str] | None = None,
    *,
    num_texts: int = 50,
    warmup: int = 5,
) -> list[float]:
    """The median milliseconds of one text that leaves at each exit, one after the other.

    Texts are taken evenly from those given; the exits take turns, so that whatever slows the
    machine slows all of them. The exits before the one that answers are asked as well, and the
    tokenizer's time is part of it.
    """
    layers = engine.exit_layers
    routes = [EarlyExit(engine, FixedPolicy(layer=layer), batch_size=1) for layer in layers]
    step = max(1, len(texts) // num_texts)
    chosen = list(range(0, len(texts), step))[:num_texts]
    found: list[list[float]] = [[] for _ in layers]
    for number, row in enumerate([*chosen[:warmup], *chosen]):
        for times, route in zip(found, routes, strict=True):
            started = time.perf_counter()
            route([texts[row]], None if pairs is None else [pairs[row]])
            if number >= warmup:
                times.append(1000 * (time.perf_counter() - started))
    return [statistics.median(times) for times in found]
