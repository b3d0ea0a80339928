"""How the gradients of SCL and cross-entropy lie to each other (figure 2)."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from exitwise.experiments.figures.picture import Picture, grid
from exitwise.experiments.plan import Experiments
from exitwise.experiments.store import Store

Angles = Mapping[str, Mapping[str, Sequence[Sequence[float]]]]
"""By column and row: degrees of all batches, seed by seed."""

BINS = 40
LOOKS: tuple[dict[str, Any], ...] = (
    {"histtype": "stepfilled", "color": "0.8", "edgecolor": "0.35"},
    {"histtype": "step", "edgecolor": "black", "linewidth": 1.3, "hatch": "///"},
    {"histtype": "step", "edgecolor": "#0072b2", "linewidth": 1.6, "linestyle": "--"},
)
"""Of the rows: grey, hatched, dashed."""


def angles(experiments: Experiments, store: Store) -> Iterator[Picture]:
    """One for each table of angles, a panel for each column, the batches of all seeds pooled."""
    for name, table in experiments.tables.items():
        if table.shows != "angles":
            continue
        found: dict[str, dict[str, list[list[float]]]] = {}
        for place in experiments.places([name]):
            if place.observation is not None and store.has(place.cell.key, place.observation):
                degrees = store.read(place.cell.key, place.observation)["angles"]
                if degrees:
                    row = found.setdefault(place.cell.task, {})
                    row.setdefault(place.row.name, []).append(degrees)
        if found:
            yield Picture(
                name=name,
                table=name,
                caption=f"{table.source}: angle between the two gradients in the finished model, "
                f"batches of all seeds together; {', '.join(found)}.",
                draw=partial(draw, found),
            )


def draw(found: Angles) -> Figure:
    """Overlaid distributions; beyond 90° the gradients point against each other."""
    figure, panels = grid(1, len(found), width=6.0, height=4.0)
    for axes, (column, rows) in zip(panels[0], found.items(), strict=True):
        draw_panel(axes, rows)
        axes.set(title=column, xlabel="angle of the gradients in degrees")
    panels[0][0].set_ylabel("share of the batches in %")
    return figure


def draw_panel(axes: Axes, rows: Mapping[str, Sequence[Sequence[float]]]) -> None:
    """All rows in the same bins, which reach to 90° whatever was found."""
    pooled = {name: np.concatenate(list(map(np.asarray, seeds))) for name, seeds in rows.items()}
    together = np.concatenate(list(pooled.values()))
    low, high = min(together.min(), 88.0), max(together.max(), 92.0)
    bins = np.linspace(low, high, BINS + 1).tolist()
    for look, (name, degrees) in zip(LOOKS, pooled.items(), strict=False):
        above = 100 * float(np.mean(degrees > 90))
        count = len(rows[name])
        axes.hist(
            degrees.tolist(),
            bins,
            weights=[100 / len(degrees)] * len(degrees),
            label=f"{name}: {above:.0f} % above 90°\n({len(degrees)} batches, "
            f"{count} seed{'' if count == 1 else 's'})",
            **look,
        )
    axes.axvline(90, color="black", linestyle=(0, (4, 2)), linewidth=1)
    axes.annotate(" 90°", (90, 1), xycoords=("data", "axes fraction"), va="top")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.16))
