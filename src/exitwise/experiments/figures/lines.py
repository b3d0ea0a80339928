"""Lines over layers or the course of training: a point is the mean over seeds."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from matplotlib.axes import Axes

from exitwise.experiments.figures.picture import Style

Panel = TypeVar("Panel", bound=Hashable)
Points = Mapping[float, Sequence[float]]
"""Values over seeds, by where they stand on the x axis."""


def gather(
    measured: Iterable[tuple[Panel, str, float, float]],
) -> dict[Panel, dict[str, Points]]:
    """The lines of each panel by system, from what single runs have measured.

    >>> gather([("rte", "ACL", 1.0, 69.0), ("rte", "ACL", 1.0, 70.0)])
    {'rte': {'ACL': {1.0: [69.0, 70.0]}}}

    Args:
        measured: panel, system, place on the x axis and value.
    """
    found: dict[Panel, dict[str, dict[float, list[float]]]] = {}
    for panel, system, place, value in measured:
        points = found.setdefault(panel, {}).setdefault(system, {})
        points.setdefault(place, []).append(value)
    return {panel: dict[str, Points](systems) for panel, systems in found.items()}


def systems_of(panels: Mapping[Panel, Mapping[str, Points]]) -> list[str]:
    """All systems that have a line, each once."""
    return list(dict.fromkeys(name for lines in panels.values() for name in lines))


def places_of(lines: Mapping[str, Points]) -> list[float]:
    """Where the points of a panel stand."""
    return sorted({place for points in lines.values() for place in points})


def seeds_in_words(panels: Mapping[Panel, Mapping[str, Points]]) -> str:
    """How many seeds stand behind a point, where they may differ.

    >>> seeds_in_words({"rte": {"ACL": {1.0: [70.0] * 5, 2.0: [71.0] * 3}}})
    '3 to 5 seeds'
    """
    numbers = {
        len(values)
        for lines in panels.values()
        for points in lines.values()
        for values in points.values()
    }
    low, high = min(numbers), max(numbers)
    if low < high:
        return f"{low} to {high} seeds"
    return f"{high} seed" + ("" if high == 1 else "s")


def line(axes: Axes, points: Points, style: Style, label: str, shift: float = 0.0) -> None:
    """Means over seeds with their standard deviation; a single point is a dot.

    Args:
        axes: the panel.
        points: what to draw.
        style: of the system.
        label: its name.
        shift: to the right, so that the bars of several systems do not hide each other.
    """
    places = sorted(points)
    several = len(places) > 1
    axes.errorbar(
        [place + shift for place in places],
        [float(np.mean(points[place])) for place in places],
        [deviation(points[place]) for place in places],
        marker=style.marker,
        markersize=5 if several else 8,
        linestyle=style.line if several else "none",
        color=style.color,
        linewidth=1.4,
        elinewidth=0.7,
        capsize=2,
        label=label,
    )


def deviation(values: Sequence[float]) -> float:
    """Over seeds; a single one has none."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def shifts(names: Collection[str], step: float = 0.05) -> dict[str, float]:
    """Small distances around zero, one for each system.

    >>> shifts(["CE", "SCL", "ACL"], 1.0)
    {'CE': -1.0, 'SCL': 0.0, 'ACL': 1.0}
    """
    middle = (len(names) - 1) / 2
    return {name: step * (index - middle) for index, name in enumerate(names)}
