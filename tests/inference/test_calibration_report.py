"""The report of a calibration: one a model, of the policy that it has, and told by its card."""

from pathlib import Path
from typing import Any

import pytest

from exitwise.inference.calibration_report import read_report
from exitwise.inference.policy_file import write_policy
from exitwise.policies import ConfidencePolicy, VotePolicy, policy_to_plain

POLICY = ConfidencePolicy(threshold={1: 0.9, 2: None})


def report_on(rows: int) -> dict[str, Any]:
    exits = {
        layer: {"rows": rows // 2, "threshold": threshold, "temperature": 1.5}
        for layer, threshold in (("1", 0.9), ("2", None), ("3", None))
    }
    return {
        "policy": policy_to_plain(POLICY),
        "metric": "accuracy",
        "full_score": 80.0,
        "score": 79.5,
        "drop": 0.5,
        "cost": 0.4,
        "mean_layer": 1.2,
        "exits": exits,
        "rows": {"chosen_on": rows, "measured_on": rows},
        "promise": None,
        "notes": [],
        "data": {"source": "dev.csv", "fingerprint": "abc"},
        "date": "2026-01-01",
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "README.md").write_text("# A model\n")
    return tmp_path


def test_the_card_tells_of_the_last_calibration(folder: Path) -> None:
    for rows in (20, 40):
        write_policy(folder, POLICY, calibration=report_on(rows))
        assert read_report(folder) == report_on(rows)
    card = (folder / "README.md").read_text()
    assert card.startswith("# A model\n\n## Early exit\n\nCalibrated on 2026-01-01 (40 rows of ")
    assert card.count("## Early exit") == 1
    assert "| 1 | 0.900 | 1.50 | 50 % |\n| 2 | never | 1.50 | 50 % |\n| 3 | the rest |" in card


def test_a_report_stays_with_its_policy_and_goes_with_it(folder: Path) -> None:
    write_policy(folder, POLICY, calibration=report_on(20))
    write_policy(folder, POLICY)
    assert read_report(folder) == report_on(20)
    write_policy(folder, VotePolicy(votes=2))
    assert read_report(folder) is None
    assert (folder / "README.md").read_text() == "# A model\n"


def test_a_folder_without_a_card_gets_none(tmp_path: Path) -> None:
    write_policy(tmp_path, POLICY, calibration=report_on(20))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["calibration.json", "policy.json"]
