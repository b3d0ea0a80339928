"""Parts lie in each other and in several sessions; none is counted twice."""

import time
from pathlib import Path

import pytest

from exitwise.run.stopwatch import Stopwatch


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that goes on only where a test says so."""
    now = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    return now


def session(clock: list[float], path: Path) -> dict[str, float]:
    watch = Stopwatch(path)
    with watch.part("all"):
        clock[0] += 1
        with watch.part("backbone"):
            clock[0] += 10
        with watch.part("exits"):
            clock[0] += 5
        return watch.table()


def test_a_part_within_another_is_counted_once(clock: list[float], tmp_path: Path) -> None:
    path = tmp_path / "seconds.json"
    assert session(clock, path) == {"all": 16, "backbone": 10, "exits": 5}
    assert session(clock, path) == {"all": 32, "backbone": 20, "exits": 10}
    assert Stopwatch(path).table() == {"all": 32, "backbone": 20, "exits": 10}
