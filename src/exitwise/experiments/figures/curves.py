"""The layer–score curves: what every exit scores (figures 3, 4 and 5)."""

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
    systems_of,
)
from exitwise.experiments.figures.picture import Picture, grid, legend, styles
from exitwise.experiments.plan import Experiments
from exitwise.experiments.scores import columns_of, exit_scores, finished
from exitwise.experiments.store import Store


def curves(experiments: Experiments, store: Store) -> Iterator[Picture]:
    """One for each table of scores of every layer, a panel for each column that has a result."""
    for name, table in experiments.tables.items():
        if table.shows != "layer_scores":
            continue
        found = gather(scores(experiments, name, store))
        columns = {column: found[column] for column in table.columns if column in found}
        if columns:
            yield Picture(
                name=name,
                table=name,
                caption=f"{table.source}: score of every exit in %, mean and standard deviation "
                f"over {seeds_in_words(columns)}; {', '.join(columns)}. A system of a single exit "
                "is a dot at its layer.",
                draw=partial(draw, columns, [row.name for row in table.rows]),
            )


def scores(
    experiments: Experiments, name: str, store: Store
) -> Iterator[tuple[str, str, float, float]]:
    """Column, row, layer and score of every exit of every run."""
    for place, result in finished(experiments.places([name]), store):
        for column in columns_of(experiments.tables[name], place.cell.task):
            for layer, score in exit_scores(result, column).items():
                yield column, place.row.name, float(layer), score


def draw(columns: Mapping[str, Mapping[str, Points]], names: Sequence[str]) -> Figure:
    """The panels beside each other; systems without a result take no place in the legend.

    Args:
        columns: what is drawn.
        names: of all rows of the table.
    """
    there = systems_of(columns)
    looks, moved = styles(names), shifts([name for name in names if name in there])
    figure, panels = grid(1, len(columns))
    for axes, (column, lines) in zip(panels[0], columns.items(), strict=True):
        for name in moved:
            if name in lines:
                line(axes, lines[name], looks[name], name, moved[name])
        axes.set_xticks(places_of(lines))
        axes.set(title=column, xlabel="layer of the exit")
    panels[0][0].set_ylabel("score in %")
    legend(figure, panels)
    return figure
