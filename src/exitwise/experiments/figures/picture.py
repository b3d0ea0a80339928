"""A picture that can be drawn, and how all of them look: told apart without colours."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Found to be drawable: its data is there.

    Attributes:
        name: of its files.
        table: to which it belongs.
        caption: what it shows, and of how much.
        draw: makes it.
    """

    name: str
    table: str
    caption: str
    draw: Callable[[], Figure]


class Style(NamedTuple):
    """How a system looks, in grey as in colour."""

    marker: str
    line: str | tuple[int, tuple[int, ...]]
    color: str


STYLES = (
    Style("o", "-", "black"),
    Style("s", "--", "#0072b2"),
    Style("^", ":", "#d55e00"),
    Style("D", "-.", "#009e73"),
    Style("v", (0, (6, 1, 1, 1, 1, 1)), "#cc79a7"),
    Style("P", (0, (2, 2)), "#56b4e9"),
    Style("X", (0, (8, 3)), "#7f7f7f"),
)


def styles(names: Sequence[str]) -> dict[str, Style]:
    """One each; the first is black and drawn through."""
    return dict(zip(names, cycle(STYLES), strict=False))


def save(picture: Picture, folder: Path) -> list[Path]:
    """Writes FOLDER/NAME.png and .svg; the same data makes the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    figure = picture.draw()
    paths = [folder / f"{picture.name}.{kind}" for kind in ("png", "svg")]
    metadata: tuple[dict[str, Any], ...] = ({"Software": None}, {"Date": None, "Creator": None})
    with matplotlib.rc_context({"svg.hashsalt": "exitwise"}):
        for path, without in zip(paths, metadata, strict=True):
            figure.savefig(path, dpi=150, metadata=without)
    return paths


def grid(
    rows: int, columns: int, *, width: float | None = None, height: float = 3.4, sharex: bool = True
) -> tuple[Figure, Sequence[Sequence[Axes]]]:
    """A figure of equal panels, row by row; many are narrower, so that their text stays large."""
    width = width or (4.4 if columns < 3 else 3.4)
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False, sharex=sharex)
    for axes in panels.flat:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color="0.9")
        axes.set_axisbelow(True)
    return figure, panels.tolist()


def legend(figure: Figure, panels: Sequence[Sequence[Axes]]) -> None:
    """One for all panels, below them."""
    found: dict[str, Artist] = {}
    for axes in (axes for row in panels for axes in row):
        handles, labels = axes.get_legend_handles_labels()
        for handle, label in zip(handles, labels, strict=True):
            found.setdefault(label, handle)
    inches = 0.8 + 0.085 * max(map(len, found))  # of the widest entry
    figure.legend(
        list(found.values()),
        list(found),
        loc="outside lower center",
        ncols=max(1, min(len(found), int(figure.get_figwidth() / inches))),
        frameon=False,
        handlelength=3.5,
    )
