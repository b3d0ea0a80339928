"""Samples and label embeddings of an exit in two dimensions, by t-SNE (figure 6)."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from exitwise.experiments.figures.picture import STYLES, Picture, grid, legend
from exitwise.experiments.plan import Experiments
from exitwise.experiments.scores import exit_scores
from exitwise.experiments.store import Result, Store


class Map(NamedTuple):
    """What is drawn in a panel: positions, the names of the classes, and what is above it."""

    title: str
    classes: Sequence[str]
    found: Result


def embeddings(experiments: Experiments, store: Store) -> Iterator[Picture]:
    """One for each table of embeddings and task, a panel for each row.

    Maps of several seeds cannot be laid over each other: that of the first seed that has most
    rows is drawn.
    """
    for name, table in experiments.tables.items():
        if table.shows != "embeddings":
            continue
        by_task: dict[str, dict[int, dict[str, Map]]] = {}
        for place in experiments.places([name]):
            key, observation = place.cell.key, place.observation
            if observation is None or not (store.has(key, observation) and store.has(key)):
                continue
            result, found = store.read(key), store.read(key, observation)
            score = exit_scores(result, place.cell.task)[str(found["layer"])]
            title = f"{place.row.name}: exit {found['layer']}, {score:.1f} %"
            seeds = by_task.setdefault(place.cell.task, {}).setdefault(place.cell.seed, {})
            seeds[place.row.name] = Map(title, result["data"]["labels"], found)
        for task, by_seed in by_task.items():
            seed = min(by_seed, key=lambda seed: (-len(by_seed[seed]), seed))
            maps = list(by_seed[seed].values())
            yield Picture(
                name=name if len(by_task) == 1 else f"{name}-{task}",
                table=name,
                caption=f"{table.source}: samples of {task} and label embeddings (stars) on the "
                f"unit sphere, by t-SNE, seed {seed}. Distances between clusters mean nothing.",
                draw=partial(draw, maps),
            )


def draw(maps: Sequence[Map]) -> Figure:
    """The panels beside each other."""
    figure, panels = grid(1, len(maps), width=4.6, height=4.4, sharex=False)
    for axes, each in zip(panels[0], maps, strict=True):
        draw_map(axes, each)
    legend(figure, panels)
    return figure


def draw_map(axes: Axes, drawn: Map) -> None:
    """Classes by marker and filling; the stars of their label embeddings lie above all."""
    labels = list(drawn.found["labels"])
    samples = np.asarray(drawn.found["samples"], dtype=float)
    for index, (name, style) in enumerate(zip(drawn.classes, STYLES, strict=False)):
        chosen = samples[[label == str(index) for label in labels]]
        if len(chosen) == 0:
            continue
        axes.scatter(
            chosen[:, 0],
            chosen[:, 1],
            marker=style.marker,
            s=18,
            facecolor="none" if index % 2 else style.color,
            edgecolor=style.color,
            linewidth=0.7,
            alpha=0.75,
            label=name,
        )
    for index, (x, y) in enumerate(drawn.found["label_embeddings"]):
        style = STYLES[index % len(STYLES)]
        axes.scatter(
            [x], [y], marker="*", s=420, facecolor="white" if index % 2 else style.color,
            edgecolor="black" if index % 2 else "white", linewidth=1.4, zorder=3,
            label=f"label embedding: {drawn.classes[index]}",
        )  # fmt: skip
    axes.set(title=drawn.title, xticks=[], yticks=[])
    axes.spines[:].set_visible(True)
