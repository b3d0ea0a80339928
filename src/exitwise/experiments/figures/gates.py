"""How often the gate was open while exits were trained."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from matplotlib.figure import Figure

from exitwise.experiments.cell import Cell
from exitwise.experiments.figures.lines import Points, gather, line, seeds_in_words, systems_of
from exitwise.experiments.figures.picture import Picture, grid, legend, styles
from exitwise.experiments.plan import Experiments, Place
from exitwise.experiments.store import Store

TABLES = ("table1", "table2")
"""Of the whole model and of its exits."""


def gates(experiments: Experiments, store: Store) -> Iterator[Picture]:
    """One a table, a panel for each task."""
    for name in filter(experiments.tables.__contains__, TABLES):
        found = gather(shares(experiments, name, store))
        if found:
            yield Picture(
                name=f"{name}-gates",
                table=name,
                caption="Share of open gates in the course of a stage, all exits together (the "
                "others are closed: the contrastive gradient is left out); mean and standard "
                f"deviation over {seeds_in_words(found)}; {', '.join(found)}.",
                draw=partial(draw, found),
            )


def shares(
    experiments: Experiments, name: str, store: Store
) -> Iterator[tuple[str, str, float, float]]:
    """Task, system, place in the course of the stage and share, in percent; backbones too."""
    for cell, system in systems(list(experiments.places([name]))).values():
        if not store.has(cell.key):
            continue
        stages = store.read(cell.key).get("open_gates", {})
        for stage, opened in stages.items():
            label = system if len(stages) == 1 else f"{system}, {stage}"
            for part, share in enumerate(opened):
                yield cell.task, label, 100 * (part + 0.5) / len(opened), 100 * share


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


def draw(found: Mapping[str, Mapping[str, Points]]) -> Figure:
    """Systems look the same in all panels."""
    looks = styles(systems_of(found))
    figure, panels = grid(1, len(found))
    for axes, (task, lines) in zip(panels[0], found.items(), strict=True):
        for name, each in lines.items():
            line(axes, each, looks[name], name)
        axes.set(title=task, xlabel="course of the stage in %", ylim=(-4, 104))
    panels[0][0].set_ylabel("open gates in %")
    legend(figure, panels)
    return figure
