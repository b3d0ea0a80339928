"""How often the gate was open while exits were trained."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from matplotlib.figure import Figure

from exitwise.experiments.cell import Cell
from exitwise.experiments.figures.picture import (
    Picture,
    grid,
    legend,
    line,
    seeds_in_words,
    styles,
)
from exitwise.experiments.plan import Experiments, Place
from exitwise.experiments.store import Store

TABLES = ("table1", "table2")
"""Of the whole model and of its exits."""


Points = dict[float, list[float]]
Gates = Mapping[str, Mapping[str, Points]]
"""By task, system and place in the course of the stage in percent: over seeds."""


def gates(experiments: Experiments, store: Store) -> Iterator[Picture]:
    """One a table, a panel for each task."""
    for name in TABLES:
        if name not in experiments.tables:
            continue
        found = series(experiments, name, store)
        if found:
            counts = [
                len(seeds)
                for lines in found.values()
                for each in lines.values()
                for seeds in each.values()
            ]
            yield Picture(
                name=f"{name}-gates",
                table=name,
                caption="Share of open gates in the course of a stage, all exits together (the "
                "others are closed: the contrastive gradient is left out); mean and standard "
                f"deviation over {seeds_in_words(counts)}; {', '.join(found)}.",
                draw=partial(draw, found),
            )


def series(experiments: Experiments, name: str, store: Store) -> Gates:
    """The lines of a table, with those of its backbones."""
    found: dict[str, dict[str, Points]] = {}
    for cell, system in systems(list(experiments.places([name]))).values():
        if not store.has(cell.key):
            continue
        stages = store.read(cell.key).get("open_gates", {})
        for stage, shares in stages.items():
            label = system if len(stages) == 1 else f"{system}, {stage}"
            points = found.setdefault(cell.task, {}).setdefault(label, {})
            for part, share in enumerate(shares):
                points.setdefault(100 * (part + 0.5) / len(shares), []).append(100 * share)
    return found


def systems(places: Sequence[Place]) -> dict[str, tuple[Cell, str]]:
    """Each cell once, by its key, with the rows that it stands for.

    Rows of one cell share a line; a backbone that is no row is named by those that start from it.
    """
    found: dict[str, tuple[Cell, list[str]]] = {}
    for place in places:
        found.setdefault(place.cell.key, (place.cell, []))[1].append(place.row.name)
    for place in places:
        backbone = place.cell.backbone
        if backbone is not None:
            name = f"backbone of {place.row.name}"
            found.setdefault(backbone.key, (backbone, [name]))
    return {key: (cell, " = ".join(names)) for key, (cell, names) in found.items()}


def draw(found: Gates) -> Figure:
    """Systems look the same in all panels."""
    names: Sequence[str] = list(dict.fromkeys(name for lines in found.values() for name in lines))
    looks = styles(names)
    figure, panels = grid(1, len(found))
    for axes, (task, lines) in zip(panels[0], found.items(), strict=True):
        for name, each in lines.items():
            line(axes, each, looks[name], name)
        axes.set(title=task, xlabel="course of the stage in %", ylim=(-4, 104))
    panels[0][0].set_ylabel("open gates in %")
    legend(figure, panels)
    return figure
