"""How the embeddings of every exit lie: alignment, uniformity, nearness to the own label's."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from matplotlib.figure import Figure

from exitwise.experiments.figures.lines import (
    Points,
    gather,
    line,
    places_of,
    seeds_in_words,
    shifts,
)
from exitwise.experiments.figures.picture import Picture, grid, legend, styles
from exitwise.experiments.plan import Experiments
from exitwise.experiments.scores import finished
from exitwise.experiments.store import Store

TABLES = ("table2", "figure3")
"""Those whose rows have an exit after every layer and differ in what these learn from."""

QUANTITIES = {
    "alignment": "alignment\n(0 is best)",
    "uniformity": "uniformity\n(lower is more spread)",
    "own_label_similarity": "cosine with the\nown label embedding",
}

Panel = tuple[str, str]
"""A quantity and a task."""


def geometry(experiments: Experiments, store: Store) -> Iterator[Picture]:
    """One a table: a row of panels for each quantity, a column of them for each task."""
    for name in filter(experiments.tables.__contains__, TABLES):
        found = gather(shapes(experiments, name, store))
        if found:
            yield Picture(
                name=f"{name}-geometry",
                table=name,
                caption="Alignment and uniformity of every exit's embeddings, and the mean cosine "
                "of samples with their own label embedding, on the validation set; mean and "
                f"standard deviation over {seeds_in_words(found)}; {', '.join(tasks_of(found))}.",
                draw=partial(draw, found, [row.name for row in experiments.tables[name].rows]),
            )


def shapes(
    experiments: Experiments, name: str, store: Store
) -> Iterator[tuple[Panel, str, float, float]]:
    """Panel, row, layer and value of every quantity that is defined."""
    for place, result in finished(experiments.places([name]), store):
        for layer, measured in result.get("geometry", {}).items():
            for quantity in QUANTITIES:
                if measured.get(quantity) is not None:
                    panel = quantity, place.cell.task
                    yield panel, place.row.name, float(layer), float(measured[quantity])


def tasks_of(found: Mapping[Panel, object]) -> list[str]:
    """The columns of the panels."""
    return list(dict.fromkeys(task for _, task in found))


def draw(found: Mapping[Panel, Mapping[str, Points]], names: Sequence[str]) -> Figure:
    """A system looks the same in all panels, whichever others have results.

    Args:
        found: what is drawn.
        names: of all rows of the table.
    """
    looks, moved, tasks = styles(names), shifts(names), tasks_of(found)
    figure, panels = grid(len(QUANTITIES), len(tasks), height=2.5)
    for panel_row, (quantity, words) in zip(panels, QUANTITIES.items(), strict=True):
        panel_row[0].set_ylabel(words)
        for axes, task in zip(panel_row, tasks, strict=True):
            for name, points in found.get((quantity, task), {}).items():
                line(axes, points, looks[name], name, moved[name])
    for axes, task in zip(panels[0], tasks, strict=True):
        axes.set_title(task)
        below = [lines for (_, each), lines in found.items() if each == task]
        axes.set_xticks(sorted({layer for lines in below for layer in places_of(lines)}))
    for axes in panels[-1]:
        axes.set_xlabel("layer of the exit")
    legend(figure, panels)
    return figure
