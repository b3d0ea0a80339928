"""The verdict names what is fastest among what is as good."""

from typing import Any

import pytest

from exitwise.benchmark.verdict import verdict


def row(kind: str, layer: int, score: float, time: float, *, engine: str = "int8") -> Any:
    return {
        "engine": engine,
        "kind": kind,
        "layer": layer,
        "score": score,
        "share_at_last": 0.1,
        "times": {"1": {"ms_per_text": time}},
    }


def systems(early_score: float, early_time: float, **changes: float) -> list[Any]:
    early = row("early exit", 3, early_score, early_time) | changes
    plain = [row("plain", layer, 80.0 + layer, float(layer)) for layer in (1, 2, 3)]
    return [*plain, row("all exits", 3, 83.0, 3.1), early]


@pytest.mark.field_case(12)
def test_early_exit_that_is_slower_than_the_whole_model_is_said_to_be() -> None:
    advice = verdict(systems(83.0, 3.3), "1")
    assert advice.startswith("use the whole model: it scores 83.00 against 83.00")
    assert "1.10x MORE time" in advice


def test_a_static_model_as_good_and_faster_is_recommended() -> None:
    advice = verdict(systems(81.5, 2.5), "1")
    assert advice.startswith("use the static 2-layer model: it scores 82.00 against 81.50")
    assert "1.25x as fast" in advice


def test_early_exit_is_recommended_where_it_wins() -> None:
    advice = verdict(systems(82.0, 1.5), "1")
    assert advice.startswith("use early exit: early exit takes 2.00x less time")
    assert "1.00 points below" in advice
    assert "the static 2-layer model, as good, takes 1.33x as long" in advice


def test_early_exit_above_the_whole_model_has_no_rival() -> None:
    advice = verdict(systems(83.5, 2.0), "1")
    assert "0.50 points above" in advice
    assert "no static model, not even the whole one" in advice


@pytest.mark.field_case(7)
def test_texts_that_all_run_to_the_last_layer_are_told_of() -> None:
    advice = verdict(systems(83.0, 3.3, share_at_last=1.0), "1")
    assert "nearly every text runs to the last layer" in advice
    assert "--max-drop" in advice


def test_only_the_fastest_engine_counts() -> None:
    slow = [
        row("early exit", 3, 82.0, 9.0, engine="torch"),
        row("plain", 3, 99.0, 8.0, engine="torch"),
    ]
    assert verdict([*slow, *systems(82.0, 1.5)], "1").startswith("use early exit")
