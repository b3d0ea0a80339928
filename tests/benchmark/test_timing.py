"""Systems are timed in turn, each call by each, and medians count."""

from collections.abc import Iterator

import numpy as np
import pytest

from exitwise.benchmark.timing import Times, calls_of, interleaved


def test_systems_take_turns_block_by_block_and_are_warm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exitwise.benchmark.timing.BLOCK", 2)
    seen: list[str] = []
    systems = {
        name: lambda texts, _, name=name: seen.append(f"{name}{texts[0]}") for name in ("x", "y")
    }
    calls = [([number], None) for number in ("1", "2", "3")]
    interleaved(systems, calls, rounds=2, warmup=1)
    assert seen[:2] == ["x1", "y1"]  # to warm up
    first_round = ["x1", "x1", "x2", "y1", "y1", "y2", "y3", "y3", "x3", "x3"]
    second_round = ["y1", "y1", "y2", "x1", "x1", "x2", "x3", "x3", "y3", "y3"]
    assert seen[2:] == first_round + second_round


def test_the_median_of_the_rounds_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    def clock() -> Iterator[float]:
        now = 0.0
        for took in (1.0, 9.0, 2.0):  # seconds of three rounds
            yield now
            now += took
            yield now

    ticks = clock()
    monkeypatch.setattr("time.perf_counter", lambda: next(ticks))
    found = interleaved({"x": lambda *_: None}, [(["a", "b"], None)], rounds=3, warmup=0)
    assert found["x"].mean == 1000.0  # 2 s for 2 texts
    assert found["x"].throughput == 1.0


def test_speedup_and_its_interval_are_of_the_same_calls() -> None:
    fast, slow = (Times(np.array([1.0, 2.0, 3.0]) * factor, texts=4) for factor in (1.0, 2.5))
    assert fast.speedup(slow) == pytest.approx(2.5)
    assert fast.speedup_interval(slow) == pytest.approx((2.5, 2.5))
    assert slow.speedup(fast) == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("number", "size", "most", "shape"),
    [(10, 1, 4, (4, 1)), (10, 4, 9, (2, 4)), (3, 8, 5, (1, 3))],
)
def test_calls_are_taken_evenly_and_are_as_large(
    number: int, size: int, most: int, shape: tuple[int, int]
) -> None:
    calls = calls_of([str(row) for row in range(number)], None, size=size, most=most)
    assert (len(calls), len(calls[0][0])) == shape
    rows = [int(text) for texts, _ in calls for text in texts]
    assert rows == sorted(set(rows))


def test_pairs_stay_beside_their_texts() -> None:
    calls = calls_of(["a", "b", "c"], ["A", "B", "C"], size=1, most=3)
    assert calls == [(["a"], ["A"]), (["b"], ["B"]), (["c"], ["C"])]
