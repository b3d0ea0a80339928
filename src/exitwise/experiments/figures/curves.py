"""The layer–score curves: what every exit scores (figures 3, 4 and 5)."""

from collections.abc import Iterator, Mapping
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
from exitwise.experiments.scores import layer_scores
from exitwise.experiments.store import Store

Curves = Mapping[str, Mapping[str, Mapping[int, Mapping[int, float]]]]
"""By row, column, layer and seed."""


def curves(experiments: Experiments, store: Store) -> Iterator[Picture]:
    """One for each table of scores of every layer, a panel for each column that has a result."""
    for name, table in experiments.tables.items():
        if table.shows != "layer_scores":
            continue
        found = layer_scores(experiments, name, store)
        columns = [each for each in table.columns if any(each in row for row in found.values())]
        if columns:
            counts = [
                len(seeds) for row in found.values() for c in row.values() for seeds in c.values()
            ]
            yield Picture(
                name=name,
                table=name,
                caption=f"{table.source}: score of every exit in %, mean and standard deviation "
                f"over {seeds_in_words(counts)}; {', '.join(columns)}. A system of a single exit "
                "is a dot at its layer.",
                draw=partial(draw, found, columns),
            )


def draw(found: Curves, columns: list[str]) -> Figure:
    """The panels beside each other; systems without a result take no place in the legend."""
    names = [name for name, row in found.items() if row]
    looks, moved = styles(list(found)), dict(zip(names, shifts(len(names)), strict=True))
    figure, panels = grid(1, len(columns))
    for axes, column in zip(panels[0], columns, strict=True):
        layers: set[int] = set()
        for name in names:
            scores = found[name].get(column)
            if scores:
                points = {float(layer): list(seeds.values()) for layer, seeds in scores.items()}
                line(axes, points, looks[name], name, moved[name])
                layers |= scores.keys()
        axes.set_xticks(sorted(layers))
        axes.set(title=column, xlabel="layer of the exit")
    panels[0][0].set_ylabel("score in %")
    legend(figure, panels)
    return figure
