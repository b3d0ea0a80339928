"""What the benchmarks share: order of timing, ratios, and claims that say if they are met."""

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def page(harness: ModuleType) -> ModuleType:
    import page

    return page


def test_two_things_are_timed_in_turn(harness: ModuleType) -> None:
    calls: list[str] = []
    harness.interleaved(lambda: calls.append("a"), lambda: calls.append("b"), rounds=4, warmup=1)
    assert "".join(calls) == "ab" * 5


def test_the_ratio_is_of_medians_and_the_spread_of_rounds(harness: ModuleType) -> None:
    ratio = harness.ratio_of([2.0, 6.0, 4.0], [1.0, 2.0, 4.0])
    assert (ratio.value, ratio.low, ratio.high) == (2.0, 1.0, 3.0)


@pytest.mark.parametrize(
    ("value", "bar", "at_least", "met"),
    [
        (1.5, 1.5, False, True),
        (1.6, 1.5, False, False),
        (19, 20, True, False),
        (1, None, True, None),
    ],
)
def test_a_claim_knows_whether_it_is_met(
    harness: ModuleType, value: float, bar: float | None, at_least: bool, met: bool | None
) -> None:
    assert harness.Claim(claim="", value=value, bar=bar, at_least=at_least).met is met


def test_claims_are_written_and_shown(
    harness: ModuleType,
    page: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks/step.py", "--rounds", "3"])
    claim = harness.Claim(claim="a step", value=1.61234, bar=1.7, spread=(1.5, 1.7))
    harness.write_claims("step", [claim], tmp_path)
    assert "1.61 [1.5, 1.7] (bar 1.7) met  a step" in capsys.readouterr().out
    (plain,) = json.loads((tmp_path / "step.json").read_text())
    assert (plain["value"], plain["met"], plain["spread"]) == (1.612, True, [1.5, 1.7])
    assert plain["command"] == "python benchmarks/step.py --rounds 3"
    claims = page.read_claims(tmp_path, "training")
    tables = page.performance_tables(claims, tmp_path)
    assert "![" not in tables
    (tmp_path / "step.png").touch()
    assert "](../benchmarks/results/step.png)" in page.performance_tables(claims, tmp_path)
    assert "| a step | 1.61 | 1.5 … 1.7 | ≤ 1.7 | met |" in tables
    before = f"By hand.\n\n{page.MARK}\n\nold"
    assert page.with_tables(before, [tables]).startswith("By hand.")
    assert "old" not in page.with_tables(before, [tables])


def test_the_pages_are_those_that_the_results_make(page: ModuleType) -> None:
    for area, path in page.PAGES.items():
        tables = page.performance_tables(page.read_claims(BENCHMARKS / "results", area))
        assert path.read_text(encoding="utf-8").endswith(page.MARK + "\n\n" + tables)
