"""What the benchmarks share: two things timed in one run, and claims as JSON."""

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch.profiler import ProfilerActivity, profile

from exitwise.run.environment import processor
from exitwise.run.folder import write_text
from exitwise.training import dtype_of
from exitwise.training.settings import has_native_bfloat16

KIND = "gpu" if torch.cuda.is_available() else "" if has_native_bfloat16() else "float32"
RESULTS = Path(__file__).parent / "results" / KIND
"""Ratios of training hold for machines of one kind: a GPU and a processor that does not multiply
bfloat16 have folders of their own."""


class Ratio(NamedTuple):
    """How much longer the first of two things takes.

    Attributes:
        value: the ratio of the medians.
        low: the 10th percentile of the ratios of single rounds.
        high: the 90th.
        first: the median seconds of the first.
        second: those of the second.
    """

    value: float
    low: float
    high: float
    first: float
    second: float


def interleaved(
    first: Callable[[], object], second: Callable[[], object], *, rounds: int, warmup: int = 3
) -> Ratio:
    """Times two things in turn, so that whatever slows the machine slows both."""
    for _ in range(warmup):
        first()
        second()
    pairs = [(seconds(first), seconds(second)) for _ in range(rounds)]
    return ratio_of([one for one, _ in pairs], [two for _, two in pairs])


def ratio_of(first: Sequence[float], second: Sequence[float]) -> Ratio:
    """The ratio of two series of equal length, measured in turn.

    >>> ratio_of([2.0, 4.0, 3.0], [1.0, 1.0, 1.0]).value
    3.0
    """
    ratios = sorted(one / two for one, two in zip(first, second, strict=True))
    middle = [statistics.median(series) for series in (first, second)]
    margin = len(ratios) // 10
    return Ratio(middle[0] / middle[1], ratios[margin], ratios[-1 - margin], *middle)


def seconds(action: Callable[[], object]) -> float:
    """How long an action takes, an accelerator's work included."""
    synchronize()
    started = time.perf_counter()
    action()
    synchronize()
    return time.perf_counter() - started


def synchronize() -> None:
    """Waits for an accelerator, if there is one."""
    if torch.accelerator.is_available():
        torch.accelerator.synchronize()


def peak_bytes(action: Callable[[], object]) -> int:
    """The most bytes of memory that torch gives out at one time, beyond those given out before."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        action()
    assert profiler.profiler is not None
    events = profiler.profiler.kineto_results.events()
    changes = sorted(
        (event.start_ns(), event.nbytes()) for event in events if event.name() == "[memory]"
    )
    given_out = peak = 0
    for _, change in changes:
        given_out += change
        peak = max(peak, given_out)
    return peak


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One measured statement.

    Attributes:
        area: "training" or "inference".
        claim: what is measured, in words.
        value: what was measured.
        bar: what it should reach; `None` if it is only reported.
        at_least: whether the bar is a lower bound; else it is an upper one.
        spread: the range of single rounds.
        unit: of the value; a ratio has none.
        details: further numbers, by name.
    """

    area: str = "training"
    claim: str
    value: float
    bar: float | None = None
    at_least: bool = False
    spread: tuple[float, float] | None = None
    unit: str = ""
    details: dict[str, float] | None = None

    @property
    def met(self) -> bool | None:
        """Whether the bar is reached."""
        if self.bar is None:
            return None
        return self.value >= self.bar if self.at_least else self.value <= self.bar

    def plain(self) -> dict[str, Any]:
        """As it is written."""
        return {
            "area": self.area,
            "claim": self.claim,
            "value": float(f"{self.value:.4g}"),
            "unit": self.unit,
            "bar": self.bar,
            "at_least": self.at_least,
            "met": self.met,
            "spread": None if self.spread is None else [float(f"{x:.4g}") for x in self.spread],
            "details": {name: float(f"{x:.4g}") for name, x in (self.details or {}).items()},
            "command": command(),
            "machine": machine(),
        }


def write_claims(name: str, claims: Sequence[Claim], folder: Path = RESULTS) -> None:
    """Writes `NAME.json`, whole or not at all, and prints each claim."""
    for claim in claims:
        verdict = {None: "", True: "met", False: "MISSED"}[claim.met]
        spread = "" if claim.spread is None else f" [{claim.spread[0]:.3g}, {claim.spread[1]:.3g}]"
        bar = "" if claim.bar is None else f" (bar {claim.bar:g})"
        print(f"{claim.value:8.3g}{claim.unit}{spread}{bar} {verdict}  {claim.claim}", flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    plain = [claim.plain() for claim in claims]
    write_text(folder / f"{name}.json", json.dumps(plain, indent=1, ensure_ascii=False) + "\n")


def command() -> str:
    """How this program was called, from the top of the checkout."""
    return " ".join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]])


def machine() -> str:
    """Processor or GPU, threads, type and versions."""
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else processor()
    dtype = str(dtype_of("auto")).removeprefix("torch.")
    threads = torch.get_num_threads()
    return (
        f"{device}, {threads} thread{'s' if threads > 1 else ''}, {dtype}, "
        f"torch {torch.__version__}, Python {platform.python_version()}"
    )


def arguments(description: str | None, *, rounds: int) -> argparse.Namespace:
    """The options of every benchmark."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--encoder", default="models/all-MiniLM-L6-v2")
    parser.add_argument("--data-dir", default="../shared/glue", help="GLUE, TASK/SPLIT.parquet")
    parser.add_argument("--rounds", type=int, default=rounds)
    return parser.parse_args()
