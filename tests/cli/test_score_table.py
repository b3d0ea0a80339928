from typing import Any

import pytest

from exitwise.cli.score_table import print_scores

SCORES = {"score": 70.0, "f1": 80.0, "accuracy": 60.0}


@pytest.fixture
def measured() -> dict[str, Any]:
    """Two exits, the first of which answers the same in all cases."""
    row = {"precision": 50.0, "recall": 25.0, "f1": 33.3, "support": 8, "predicted": 4}
    return {
        "rows": 20,
        "labelled": 20,
        "exits": {"1": {"score": 10.0, "f1": 15.0, "accuracy": 5.0}, "2": SCORES},
        "average": {"score": 40.0, "f1": 47.5, "accuracy": 32.5},
        "majority": {"score": 1.0, "f1": 2.0, "accuracy": 3.0},
        "constant": {"1": "all 20 rows are predicted as '[red]'"},
        "classes": {"[red]": row, "blue": row},
    }


def lines(out: str) -> list[list[str]]:
    return [line.split() for line in out.splitlines()]


def test_each_metric_has_its_column_and_a_mean_is_named_score(
    measured: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    print_scores(measured, "mrpc", beside={"words": {"score": 9.0, "f1": 9.5, "accuracy": 8.5}})
    found = lines(capsys.readouterr().out)
    assert ["exit", "score", "f1", "accuracy"] in found
    assert ["2", "70.0", "80.0", "60.0"] in found
    assert ["average", "40.0", "47.5", "32.5"] in found
    assert ["majority", "class", "1.0", "2.0", "3.0"] in found
    assert ["words", "9.0", "9.5", "8.5"] in found


@pytest.mark.field_case(62)
def test_a_constant_exit_is_flagged_and_its_answers_are_told(
    measured: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    print_scores(measured, "mrpc")
    out = capsys.readouterr().out
    assert ["1", "*", "10.0", "15.0", "5.0"] in lines(out)
    assert "* exit 1: all 20 rows are predicted as '[red]'" in out


def test_names_of_classes_are_printed_as_they_are(
    measured: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    print_scores(measured, "mrpc")
    out = capsys.readouterr().out
    assert "exit 2 by class" in out
    assert ["[red]", "50.0", "25.0", "33.3", "8", "4"] in lines(out)


def test_without_the_lower_exits_there_is_no_average(
    measured: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    print_scores(measured | {"exits": {"2": SCORES}, "average": {}, "constant": {}}, "mrpc")
    assert "average" not in capsys.readouterr().out
