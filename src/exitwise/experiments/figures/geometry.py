"""How the embeddings of every exit lie: alignment, uniformity, nearness to the own label's."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from matplotlib.figure import Figure

from exitwise.experiments.figures.picture import (
    Picture,
    grid,
    legend,
    line,
    seeds_in_words,
    shifts,
    styles,
)
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

Shapes = Mapping[str, Mapping[str, Mapping[str, Mapping[float, Sequence[float]]]]]
"""By column, row, quantity and layer: over seeds."""


def geometry(experiments: Experiments, store: Store) -> Iterator[Picture]:
    """One a table: a row of panels for each quantity, a column of them for each task."""
    for name in TABLES:
        if name not in experiments.tables:
            continue
        found = shapes(experiments, name, store)
        if found:
            counts = [
                len(seeds)
                for rows in found.values()
                for quantities in rows.values()
                for layers in quantities.values()
                for seeds in layers.values()
            ]
            yield Picture(
                name=f"{name}-geometry",
                table=name,
                caption="Alignment and uniformity of every exit's embeddings, and the mean cosine "
                "of samples with their own label embedding, on the validation set; mean and "
                f"standard deviation over {seeds_in_words(counts)}; {', '.join(found)}.",
                draw=partial(draw, found, [row.name for row in experiments.tables[name].rows]),
            )


def shapes(experiments: Experiments, name: str, store: Store) -> Shapes:
    """What the results of a table say of its embeddings."""
    found: dict[str, dict[str, dict[str, dict[float, list[float]]]]] = {}
    for place, result in finished(experiments.places([name]), store):
        for layer, measured in result.get("geometry", {}).items():
            for quantity in QUANTITIES:
                if measured.get(quantity) is not None:
                    row = found.setdefault(place.cell.task, {}).setdefault(place.row.name, {})
                    layers = row.setdefault(quantity, {})
                    layers.setdefault(float(layer), []).append(float(measured[quantity]))
    return found


def draw(found: Shapes, names: Sequence[str]) -> Figure:
    """A system looks the same in all panels, whichever others have results.

    Args:
        found: what is drawn.
        names: of all rows of the table.
    """
    looks, moved = styles(names), dict(zip(names, shifts(len(names)), strict=True))
    figure, panels = grid(len(QUANTITIES), len(found), height=2.5)
    for panel_row, (quantity, words) in zip(panels, QUANTITIES.items(), strict=True):
        panel_row[0].set_ylabel(words)
        for axes, rows in zip(panel_row, found.values(), strict=True):
            for name, quantities in rows.items():
                if quantity in quantities:
                    line(axes, quantities[quantity], looks[name], name, moved[name])
    for axes, (task, rows) in zip(panels[0], found.items(), strict=True):
        axes.set_title(task)
        axes.set_xticks(
            sorted({layer for row in rows.values() for q in row.values() for layer in q})
        )
    for axes in panels[-1]:
        axes.set_xlabel("layer of the exit")
    legend(figure, panels)
    return figure
