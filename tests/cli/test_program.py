import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import exitwise as package
from exitwise.cli.program import EXTRAS, missing_extra

Run = Callable[..., Any]

HEAVY = ("torch", "transformers", "numpy", "datasets", "huggingface_hub", "sklearn", "matplotlib")


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


@pytest.mark.parametrize("command", [[], ["train"]])
def test_help_imports_nothing_heavy(command: list[str]) -> None:
    code = f"""
import sys
from exitwise.cli import main
try:
    main([*{command}, "--help"])
finally:
    print("imported:", *(set({HEAVY}) & set(sys.modules)))
"""
    done = python(code)
    assert done.returncode == 0
    assert "--help" in done.stdout
    assert done.stdout.endswith("imported:\n")


def test_the_version_is_that_of_the_package(exitwise: Run) -> None:
    assert exitwise("--version") == (0, f"exitwise {package.__version__}\n", "")


def test_an_error_is_one_line_and_status_2(exitwise: Run) -> None:
    outcome = exitwise("train", "--encoder", "anything")
    assert outcome.status == 2
    assert outcome.err.count("\n") == 1
    assert outcome.err.startswith("exitwise: ")
    assert "give a task, a train file or a hub data set" in outcome.err
    assert outcome.out == ""


def test_an_error_of_the_system_is_one_line_and_status_2(exitwise: Run, trained: Path) -> None:
    outcome = exitwise("predict", "-q", trained, trained / "missing.csv", "-o", "no/folder/a.csv")
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.count("\n") == 1


def test_a_missing_package_names_the_extra_that_brings_it() -> None:
    blocked = "import sys; sys.modules['torch'] = None; from exitwise.cli import main; "
    done = python(blocked + "main(['predict', 'anything'])")
    assert done.returncode == 2
    assert done.stderr == "exitwise: torch is not installed: pip install 'exitwise[train]'\n"


def test_a_missing_module_of_our_own_is_a_bug_and_raised() -> None:
    bug = ModuleNotFoundError("no module", name="exitwise.nothing")
    with pytest.raises(ModuleNotFoundError):
        missing_extra(bug)


def test_every_package_of_the_train_extra_is_known_by_its_import_name() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    requirements = project["optional-dependencies"]["train"]
    names = {re.match(r"[\w-]+", requirement)[0] for requirement in requirements}
    imported = {"scikit-learn": "sklearn"}
    assert {imported.get(name, name) for name in names} <= EXTRAS.keys()
    assert set(EXTRAS.values()) <= project["optional-dependencies"].keys()


def test_quiet_may_stand_before_or_behind_the_command(
    exitwise: Run, trained: Path, labelled: Path
) -> None:
    arguments = ("evaluate", trained, "--data", labelled)
    loud, before, behind = (
        exitwise(*arguments),
        exitwise("-q", *arguments),
        exitwise(*arguments, "-q"),
    )
    assert "texts are read from" in loud.err
    assert before.err == behind.err == ""
    assert before.out == behind.out == loud.out
