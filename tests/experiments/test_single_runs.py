"""The page of results holds what the results say, and nothing else."""

from pathlib import Path
from typing import Any

import pytest

from exitwise.experiments.documentation import generated
from exitwise.experiments.single_runs import first_scores, read_results, results_page
from exitwise.recipe import Recipe, apply_overrides, from_plain, plain_hash, read_toml

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "experiments" / "results" / "single"
RECIPES = ROOT / "experiments" / "recipes"


@pytest.fixture
def result() -> dict[str, Any]:
    score = {"score": 81.27, "accuracy": 80.0}
    return {
        "recipe": {"seed": 3, "data": {"task": "mrpc"}},
        "recipe_hash": "0123456789ab",
        "data": {"metric": "accuracy", "train": {"rows": 9, "source": "mrpc/train"}},
        "scores": {
            "validation": {
                "labelled": 4,
                "exits": {"1": {"score": 50.0}, "2": score},
                "average": {"score": 65.635},
                "majority": {"score": 50.0},
                "constant": {"1": "all 4 rows are predicted as 'no' (no: 4, yes: 0)"},
            }
        },
        "gates": {
            "exits": {
                "exit_1": {
                    "decisions": 4,
                    "mean_angle": 80.0,
                    "share_above_90": 0.25,
                    "share_open": 0.75,
                }
            }
        },
        "seconds": {"all": 12.4},
        "environment": {"commit": "abc"},
    }


def test_the_page_shows_scores_majority_and_gates(result: dict[str, Any]) -> None:
    page = results_page({"mrpc-acl": result})
    assert "| `mrpc-acl` | 50.0* | 81.3 | 65.6 | 12 |" in page
    assert "| always the majority class |  | 50.0 |  |  |" in page
    assert "| `mrpc-acl` | exits | 4 | 80.0 | 25.0 | 75.0 |" in page


def test_every_recipe_file_is_a_recipe() -> None:
    files = sorted(RECIPES.rglob("*.toml"))
    assert files
    for file in files:
        plain = read_toml(file)
        start = [] if "encoder" in plain else ["start_from=runs/mrpc-ce"]
        compression = plain.get("compression")
        keep = ["compression.keep=1"] if compression and "share" not in str(compression) else []
        from_plain(Recipe, apply_overrides(plain, ["data.task=mrpc", *start, *keep]))


@pytest.mark.field_case(52)
def test_every_result_holds_the_recipe_that_its_name_is_made_of() -> None:
    results = read_results(RESULTS)
    assert results
    for result in results.values():
        assert plain_hash(result["recipe"]) == result["recipe_hash"]
        from_plain(Recipe, result["recipe"])  # can be run again
        assert first_scores(result)["exits"]
        assert result["environment"]["packages"]["torch"]


@pytest.mark.field_case(52)
def test_the_results_page_is_the_one_that_the_results_make() -> None:
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    assert page.endswith(generated(ROOT / "experiments"))
