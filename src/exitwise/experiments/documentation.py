"""The page `docs/results.md` with its pictures, made from all results.

    python -m exitwise.experiments experiments docs/results.md

Nothing on it is written by hand but the text before the mark.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from exitwise.experiments.figures import Picture, pictures
from exitwise.experiments.markdown import MARK
from exitwise.experiments.plan import Experiments
from exitwise.experiments.report import results_markdown
from exitwise.experiments.single_runs import read_results, results_page
from exitwise.experiments.store import Store

SINGLE = "single"


def generated(folder: Path) -> str:
    """The part behind the mark: every scale with results, then runs outside the tables."""
    parts = [
        f"## Scale: {name}\n\n"
        + results_markdown(experiments, store, figures=f"figures/{name}").replace("\n## ", "\n### ")
        for name, experiments, store in scales(folder)
    ]
    single = read_results(folder / "results" / SINGLE)
    if single:
        parts.append("## Single runs\n\n" + results_page(single))
    return "\n".join(parts)


def scales(folder: Path) -> Iterator[tuple[str, Experiments, Store]]:
    """The overlays that have results."""
    for file in sorted((folder / "overlays").glob("*.toml")):
        results = folder / "results" / file.stem
        if any(results.glob("*.json")):
            yield file.stem, Experiments.read(folder, file.stem), Store(results)


def all_pictures(folder: Path) -> Iterator[tuple[str, Picture]]:
    """The pictures of every scale, with its name."""
    for name, experiments, store in scales(folder):
        for picture in pictures(experiments, store):
            yield name, picture


def main() -> None:
    """Writes page and pictures; the text that the page begins with stays."""
    from exitwise.experiments.figures import save

    folder, page = map(Path, sys.argv[1:3])
    text = page.read_text(encoding="utf-8").partition(MARK)[0] if page.exists() else ""
    page.write_text(f"{text}{MARK}\n\n{generated(folder)}", encoding="utf-8")
    for name, picture in all_pictures(folder):
        save(picture, page.parent / "figures" / name)
