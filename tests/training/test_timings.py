"""Seconds by part, on a clock that the test winds."""

import pytest

from exitwise.training import Timings


def test_parts_add_up_from_large_to_small_and_the_rest_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hands = [100.0]
    monkeypatch.setattr("exitwise.training.timings.now", lambda: hands[0])
    timings = Timings()
    for part, seconds in (("data", 1.0), ("forward", 2.0), ("data", 0.5)):
        with timings.measure(part):
            hands[0] += seconds
        hands[0] += 0.25
    assert timings.table() == {"forward": 2.0, "data": 1.5, "other": 0.75}


def test_a_part_that_fails_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    hands = [0.0]
    monkeypatch.setattr("exitwise.training.timings.now", lambda: hands[0])
    timings = Timings()

    def fails() -> None:
        with timings.measure("forward"):
            hands[0] += 3.0
            raise ValueError("too large")

    with pytest.raises(ValueError, match="too large"):
        fails()
    assert timings.table() == {"forward": 3.0, "other": 0.0}
