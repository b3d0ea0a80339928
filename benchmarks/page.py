"""From `benchmarks/results` to the tables of `docs/performance.md` and `docs/early-exit.md`.

Nothing on these pages is written by hand but the text above the first table.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from exitwise.experiments.markdown import MARK
from exitwise.run.folder import write_text

ROOT = Path(__file__).parent.parent
PAGES = {
    "training": ROOT / "docs" / "performance.md",
    "inference": ROOT / "docs" / "early-exit.md",
}

RESULTS = ROOT / "benchmarks" / "results"

CAPTIONS = {
    "training": "How the cost grows with the batch",
    "inference": "What each system scores, over the time that a text takes; early exit is a star",
}
"""Of the pictures that lie beside the results of an area."""

Plain = Mapping[str, Any]


def read_claims(folder: Path, area: str) -> dict[str, list[Plain]]:
    """The claims of an area by the name of their file; a GPU's stand in a folder of their own."""
    read = {
        path.relative_to(folder).with_suffix("").as_posix(): json.loads(path.read_text("utf-8"))
        for path in sorted(folder.rglob("*.json"))
    }
    return {name: claims for name, claims in read.items() if claims[0]["area"] == area}


def performance_tables(claims: Mapping[str, list[Plain]], folder: Path = RESULTS) -> str:
    """A section a benchmark: its claims, its picture, its command and its machine."""
    return "\n\n".join(section(name, each, folder) for name, each in claims.items()) + "\n"


def section(name: str, claims: list[Plain], folder: Path) -> str:
    """The claims of one benchmark, and the picture that lies beside them if there is one."""
    rows = [
        "| claim | measured | spread | bar | |",
        "| --- | --- | --- | --- | --- |",
        *(row(claim) for claim in claims),
    ]
    behind = [
        f"- {claim['claim']}: " + ", ".join(f"{key} {value:g}" for key, value in details.items())
        for claim in claims
        if (details := claim["details"])
    ]
    parts = [f"## {name}", "\n".join(rows)]
    if (folder / f"{name}.png").exists():
        caption = CAPTIONS[claims[0]["area"]]
        parts.append(
            f"![{caption}](../{RESULTS.relative_to(ROOT).as_posix()}/{name}.png)\n\n*{caption}.*"
        )
    if behind:
        parts.append("\n".join(behind))
    parts.append(f"`{claims[0]['command']}` on {claims[0]['machine']}")
    return "\n\n".join(parts)


def row(claim: Plain) -> str:
    """One claim."""
    sign = "≥" if claim["at_least"] else "≤"
    bar = "" if claim["bar"] is None else f"{sign} {claim['bar']:g}"
    spread = "" if claim["spread"] is None else " … ".join(f"{x:.3g}" for x in claim["spread"])
    met = {None: "", True: "met", False: "**missed**"}[claim["met"]]
    value = f"{claim['value']:.3g}{claim['unit']}"
    return f"| {claim['claim']} | {value} | {spread} | {bar} | {met} |"


def with_tables(page: str, tables: Iterable[str]) -> str:
    """The page with its hand-written part kept."""
    return page.partition(MARK)[0] + MARK + "\n\n" + "".join(tables)


def main() -> None:
    """Rewrites the pages."""
    for area, page in PAGES.items():
        tables = performance_tables(read_claims(RESULTS, area))
        write_text(page, with_tables(page.read_text("utf-8"), [tables]))


if __name__ == "__main__":
    main()
