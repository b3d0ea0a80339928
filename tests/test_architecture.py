"""What the tree promises: families are tested as a whole, public names exist."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
PACKAGE = SOURCE / "exitwise"


def packages_of_families() -> Iterator[str]:
    """The packages with a class that is decorated with some registry's `register`."""
    for module in PACKAGE.rglob("*.py"):
        nodes = ast.parse(module.read_text()).body
        classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
        decorators = [decorator for each in classes for decorator in each.decorator_list]
        if any(isinstance(each, ast.Attribute) and each.attr == "register" for each in decorators):
            yield module.relative_to(PACKAGE).parts[0]


def packages_with_public_names() -> Iterator[str]:
    for init in PACKAGE.rglob("__init__.py"):
        if "__all__" in init.read_text():
            yield ".".join(init.parent.relative_to(SOURCE).parts)


FAMILIES = sorted(set(packages_of_families()))
PACKAGES = sorted(packages_with_public_names())


def test_there_are_families_and_public_packages_to_look_at() -> None:
    assert {"exits", "regimes", "objectives"} <= set(FAMILIES)
    assert {"exitwise.exits", "exitwise.metrics"} <= set(PACKAGES)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_a_test_over_all_its_members(family: str) -> None:
    over_members = re.compile(r"(parametrize\(|params=)[^)]*(\.registry|EXITS)")
    tests = [path.read_text() for path in (ROOT / "tests" / family).glob("test_*.py")]
    assert any(over_members.search(text) for text in tests)


@pytest.mark.parametrize("name", PACKAGES)
def test_public_names_exist_once(name: str) -> None:
    package = importlib.import_module(name)
    assert [each for each in package.__all__ if not hasattr(package, each)] == []
    assert len(set(package.__all__)) == len(package.__all__)


@pytest.mark.parametrize("package", [PACKAGE, ROOT / "tests"], ids=["src", "tests"])
def test_no_module_is_named_after_nothing(package: Path) -> None:
    nameless = {"utils.py", "helpers.py", "common.py", "misc.py"}
    assert {path.name for path in package.rglob("*.py")} & nameless == set()
