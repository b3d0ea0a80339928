"""`exitwise report`: files, where they are, and what is wrong in one line."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from exitwise.experiments import Cell, Experiments

Run = Callable[..., Any]
EXPERIMENTS = Path(__file__).parents[2] / "experiments"


def result(cell: Cell) -> dict[str, Any]:
    """The least that a result says."""
    return {
        "recipe": cell.recipe,
        "data": {"labels": ["no", "yes"], "metric": "accuracy"},
        "scores": {"validation": {"exits": {"6": {"score": 71.23}}, "constant": {}}},
        "gates": {},
        "environment": {
            "exitwise": "0.1.0",
            "commit": None,
            "python": "3.11",
            "packages": {},
            "platform": "Linux",
            "processor": "CPU",
            "cores": 2,
            "threads": 2,
            "accelerator": None,
        },
        "seconds": {"all": 60.0},
        "labels": "0101",
        "answers": {"6": "0111"},
        "geometry": {"6": {"own_label_similarity": 0.4}},
        "open_gates": {},
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The experiments of the repository, of its tables figure 2 alone."""
    copied = tmp_path / "experiments"
    for name in ("recipes", "overlays"):
        shutil.copytree(EXPERIMENTS / name, copied / name)
    (copied / "tables").mkdir()
    shutil.copy(EXPERIMENTS / "tables" / "figure2.toml", copied / "tables")
    return copied


@pytest.fixture
def results(tmp_path: Path, folder: Path) -> Path:
    """A folder named by its scale, with one cell of figure 2."""
    written = tmp_path / "small"
    written.mkdir()
    place = next(Experiments.read(folder, "small").places())
    (written / f"{place.cell.key}.json").write_text(json.dumps(result(place.cell)))
    angles = {"angles": [80.0, 95.0, 100.0], "undefined": 0, "batch": 8}
    (written / f"{place.cell.key}-angles.json").write_text(json.dumps(angles))
    return written


def test_page_pictures_and_tables_are_written_and_named(
    exitwise: Run, folder: Path, results: Path
) -> None:
    outcome = exitwise("report", results, "--experiments", folder)
    assert outcome.status == 0, outcome.err
    written = results / "report"
    for name in ("report.html", "tables.md", "figures"):
        assert str(written / name) in outcome.out
    assert "1 done, 0 failed" in outcome.out and "(1 pictures)" in outcome.out
    assert sorted(path.name for path in (written / "figures").iterdir()) == [
        "figure2.png",
        "figure2.svg",
    ]
    page = (written / "report.html").read_text()
    assert "71.2 (1)" in page and "data:image/svg+xml" in page
    assert f"--experiments {folder}" in page
    assert "| A: CE | 71.2 (1) [65.3] |" in (written / "tables.md").read_text()
    before = page
    assert exitwise("report", results, "--experiments", folder).status == 0
    assert (written / "report.html").read_text() == before


def test_the_report_goes_where_it_is_told_to(
    exitwise: Run, folder: Path, results: Path, tmp_path: Path
) -> None:
    moved = results.rename(tmp_path / "elsewhere")
    options = ("--experiments", folder, "--overlay", "small", "-o", tmp_path / "a" / "b")
    outcome = exitwise("report", moved, *options)
    assert outcome.status == 0, outcome.err
    assert (tmp_path / "a" / "b" / "report.html").exists()
    assert not (moved / "report").exists()


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("none", [], "no folder "),
        (".", [], "holds no result"),
        ("small", ["--overlay", "huge"], "no overlay 'huge'"),
        ("small", ["--overlay", "paper"], "is of a cell of the tables at the scale 'paper'"),
        ("small", ["--encoder", "bert"], "--encoder reads NAME=PATH, found 'bert'"),
    ],
)
def test_what_is_wrong_is_one_line(
    exitwise: Run, folder: Path, results: Path, name: str, options: list[str], message: str
) -> None:
    arguments = (results.parent / name, "--experiments", folder, *options)
    outcome = exitwise("report", *arguments)
    assert outcome.status == 2
    assert message in outcome.err
    assert len(outcome.err.strip().splitlines()) == 1
    assert not (results / "report").exists()
