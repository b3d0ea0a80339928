"""The comparison: every system's quality on all rows, its time on some, and a verdict."""

import datetime
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from exitwise.benchmark.quality import Quality
from exitwise.benchmark.systems import System
from exitwise.benchmark.timing import Call, Texts, Times, calls_of, interleaved
from exitwise.benchmark.verdict import verdict
from exitwise.data import TextDataset
from exitwise.inference import EarlyExit
from exitwise.inference.metered import MeteredEngine

BATCHES_A_CALL = 8
"""Of a call with more than one text, so that survivors can be pooled as in bulk work."""

FEWEST_CALLS = 5
"""Of several texts: percentiles and intervals of fewer calls say nothing of their spread."""

WARMUP = 5


def compare(
    systems: Sequence[System],
    texts: TextDataset,
    *,
    metric: str,
    batch_sizes: Sequence[int] = (1, 32),
    most_calls: int = 200,
    rounds: int = 3,
    told: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Quality, time and multiply-accumulates of each system, and which to use.

    With batch size 1 a call is one text. Otherwise it is eight batches of texts, as in bulk work:
    sorted by length, survivors pooled; fewer where the data would not do for five calls, since
    the spread is that over calls. Each time begins with the text and ends with the answer.

    Args:
        systems: of one run, on one or several kinds of engine.
        texts: labelled, and not those that training or calibration has seen.
        metric: the task's.
        batch_sizes: at which each system is timed.
        most_calls: timed at batch size 1, at most; above it as many texts, but at least five
            calls.
        rounds: how often each call is timed.
        told: is told what happens now.

    Returns:
        `systems`, one table each; `tokenizer`, its milliseconds a text; `verdict` by batch size.
    """
    rows = [described(system) for system in systems]
    told("scoring")
    measure_quality(systems, rows, texts, metric)
    tokenizer: dict[str, float] = {}
    for size in batch_sizes:
        told(f"timing batches of {size}")
        per_call, most = shape_of_calls(size, len(texts), most_calls)
        calls = calls_of(texts.texts, texts.pairs, size=per_call, most=most)
        routes = {each.name: routed(each, size) for each in systems}
        routes["tokenizer"] = systems[0].engine.tokens.encode
        times = interleaved(routes, calls, rounds=rounds, warmup=WARMUP)
        tokenizer[str(size)] = times.pop("tokenizer").mean
        meters = {each.name: metered(each, calls, size) for each in systems}
        num_texts = len(calls) * per_call
        for system, row in zip(systems, rows, strict=True):
            whole = whole_of(systems, system.engine_kind).name
            ours = meters[system.name]
            row["times"][str(size)] = time_table(
                times[system.name], times[whole], ideal=meters[whole].spent / ours.spent
            ) | {
                "macs_per_text": ours.spent / num_texts,
                "padded_tokens_per_text": ours.tokens_begun / num_texts,
            }
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "data": {"source": texts.source, "fingerprint": texts.fingerprint, "rows": len(texts)},
        "metric": metric,
        "settings": {
            "batch_sizes": list(batch_sizes),
            "calls": most_calls,
            "rounds": rounds,
            "warmup_calls": WARMUP,
            "most_batches_a_call_above_1": BATCHES_A_CALL,
            "tokenizer_included": True,
            "tokens_a_text": lengths_of(systems[0], texts),
        },
        "systems": rows,
        "tokenizer_ms_per_text": tokenizer,
        "verdict": {str(size): verdict(rows, str(size)) for size in batch_sizes},
    }


def shape_of_calls(size: int, num_texts: int, most_calls: int) -> tuple[int, int]:
    """Texts of a call and the most calls, at a batch size.

    >>> shape_of_calls(1, 1000, 200), shape_of_calls(32, 2000, 200), shape_of_calls(32, 500, 200)
    ((1, 200), (256, 5), (96, 5))
    """
    if size == 1:
        return 1, most_calls
    batches = max(1, min(BATCHES_A_CALL, num_texts // size // FEWEST_CALLS))
    return size * batches, max(FEWEST_CALLS, most_calls // (size * batches))


def whole_of(systems: Sequence[System], kind: str) -> System:
    """The plain model with all layers, on one kind of engine."""
    plain = [each for each in systems if (each.engine_kind, each.kind) == (kind, "plain")]
    return max(plain, key=lambda each: each.layer)


def described(system: System) -> dict[str, Any]:
    """What a system is."""
    return {
        "name": system.name,
        "engine": system.engine_kind,
        "dtype": system.engine.dtype_name,
        "kind": system.kind,
        "layer": system.layer,
        "times": {},
    }


def measure_quality(
    systems: Sequence[System], rows: Sequence[dict[str, Any]], texts: TextDataset, metric: str
) -> None:
    """Adds score, interval and where texts left to each row."""
    quality = Quality(np.asarray(texts.labels), metric)
    logits: dict[int, Float[ndarray, "m n k"]] = {}  # by engine: several systems may share one
    for system, row in zip(systems, rows, strict=True):
        engine = system.engine
        if id(engine) not in logits:
            logits[id(engine)] = engine.logits(texts.texts, texts.pairs)
        row |= quality.of(system, logits[id(engine)])


def routed(system: System, batch_size: int) -> Call:
    """What answers texts as a user would ask."""
    return EarlyExit(system.engine, system.policy, layers=system.asked, batch_size=batch_size)


def metered(system: System, calls: Sequence[Texts], batch_size: int) -> MeteredEngine:
    """The engine of a system after all calls, with what they cost."""
    meter = MeteredEngine(system.engine)
    route = routed(replace(system, engine=meter), batch_size)
    for texts in calls:
        route(*texts)
    return meter


def time_table(times: Times, whole: Times, *, ideal: float) -> dict[str, Any]:
    """The times of a system, and how many times as fast as the whole model it is."""
    speedup = times.speedup(whole)
    return {
        "ms_per_text": times.mean,
        "p50_ms_per_call": times.percentile(50),
        "p95_ms_per_call": times.percentile(95),
        "texts_per_call": times.texts,
        "calls": len(times.milliseconds),
        "texts_per_second": times.throughput,
        "speedup": speedup,
        "speedup_interval": times.speedup_interval(whole),
        "ideal_speedup": ideal,
        "realised_share": speedup / ideal,
    }


def lengths_of(system: System, texts: TextDataset) -> dict[str, float]:
    """Tokens of a text: the mean and the 95th percentile."""
    lengths = system.engine.tokens.encode(texts.texts, texts.pairs).lengths
    return {"mean": float(lengths.mean()), "p95": float(np.percentile(lengths, 95))}
