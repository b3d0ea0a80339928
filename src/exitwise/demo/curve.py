"""The layer–score curve: what each exit scores, over the depth at which it answers."""

from collections.abc import Mapping
from pathlib import Path

from matplotlib.figure import Figure

LINE_STYLES = ("--", ":", "-.")
"""Of the baselines: they are told apart without colours."""


def draw_curve(scores: Mapping[int, float], baselines: Mapping[str, float], path: Path) -> None:
    """Writes a picture; its format is that of the path's extension.

    Args:
        scores: percentages by layer.
        baselines: percentages by name, drawn as level lines.
        path: the file.
    """
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    axes.plot(list(scores), list(scores.values()), color="black", marker="o", label="exits")
    for style, (name, level) in zip(LINE_STYLES, baselines.items(), strict=False):
        axes.axhline(level, color="0.4", linestyle=style, label=name)
    for layer, score in scores.items():
        axes.annotate(
            f"{score:.1f}", (layer, score), (0, 7), textcoords="offset points", ha="center"
        )
    axes.set_xticks(list(scores))
    axes.margins(y=0.15)
    axes.set(xlabel="layer of the exit", ylabel="accuracy in %")
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)
