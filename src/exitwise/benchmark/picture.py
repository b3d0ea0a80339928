"""The quality–time curve: what each system scores, over the time that it takes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

MARKERS = "osD"
"""Of the kinds of engine: told apart without colours."""

LINES = ("-", "--", ":")


def draw(result: Mapping[str, Any], path: Path) -> None:
    """Writes a picture; its format is that of the path's extension.

    Args:
        result: of `compare`.
        path: the file.
    """
    sizes = list(result["verdict"])
    figure = Figure(figsize=(6 * len(sizes), 4.5), layout="constrained")
    panels = figure.subplots(1, len(sizes), squeeze=False)[0]
    for axes, size in zip(panels, sizes, strict=True):
        draw_batch_size(axes, result, size)
    marks, names = panels[0].get_legend_handles_labels()
    figure.legend(marks, names, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(path, dpi=150)


def draw_batch_size(axes: Axes, result: Mapping[str, Any], size: str) -> None:
    """One panel: static models as a line from shallow to deep, early exit as a star."""
    kinds = dict.fromkeys(each["engine"] for each in result["systems"])
    for kind, marker, line in zip(kinds, MARKERS, LINES, strict=False):
        rows = [each for each in result["systems"] if each["engine"] == kind]
        plain = [each for each in rows if each["kind"] == "plain"]
        times = [each["times"][size]["ms_per_text"] for each in plain]
        scores = [each["score"] for each in plain]
        axes.plot(times, scores, line, marker=marker, color="0.5", label=f"{kind}: k layers")
        for each, x, y in zip(plain, times, scores, strict=True):
            axes.annotate(
                str(each["layer"]), (x, y), (0, -13), textcoords="offset points", ha="center"
            )
        for early in (each for each in rows if each["kind"] == "early exit"):
            axes.errorbar(
                [early["times"][size]["ms_per_text"]],
                [early["score"]],
                [[early["score"] - early["interval"][0]], [early["interval"][1] - early["score"]]],
                fmt="*",
                color="black",
                markersize=14,
                markerfacecolor={"torch": "white"}.get(kind, "black"),
                capsize=3,
                label=f"{kind}: early exit (95 % interval)",
            )
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set(
        title=f"batches of {size}" if size != "1" else "one text at a time",
        xlabel="milliseconds a text, tokenizer included",
        ylabel=f"{result['metric']} in %",
    )
