"""The scores of a classifier as tables: by exit, with what to read them beside, and by class."""

from collections.abc import Mapping
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

Row = Mapping[str, float]


def print_scores(
    measured: Mapping[str, Any], title: str, *, beside: Mapping[str, Row] | None = None
) -> None:
    """Prints what `exitwise.run.measure` found on a set of texts, to standard output.

    Args:
        measured: its result.
        title: the name of the set.
        beside: further rows, by name: other classifiers' scores on the same set.
    """
    # Names of classes are no markup, and a name of a file is not to be broken.
    console = Console(markup=False, highlight=False, soft_wrap=True)
    heading = f"{title}: {measured['rows']} rows"
    if not measured["exits"]:
        console.print(f"{heading}, none of them labelled: there is nothing to score", style="bold")
        return
    if measured["labelled"] < measured["rows"]:
        heading += f", {measured['labelled']} of them labelled"
    console.print(heading, style="bold")
    console.print(exit_table(measured, beside or {}))
    for layer, warning in measured["constant"].items():
        console.print(f"* exit {layer}: {warning}")
    if "early_exit" in measured:
        console.print(early_exit_line(measured["early_exit"]))
    last = list(measured["exits"])[-1]
    console.print(f"exit {last} by class", style="bold")
    console.print(class_table(measured["classes"]))


def exit_table(measured: Mapping[str, Any], beside: Mapping[str, Row]) -> Table:
    """A row for each exit; then the average over the layers and the baselines."""
    names = metric_names(next(iter(measured["exits"].values())))
    table = Table("exit", box=SIMPLE_HEAD, pad_edge=False)
    for name in names:
        table.add_column(name, justify="right")
    for layer, scores in measured["exits"].items():
        flag = " *" if layer in measured["constant"] else ""
        table.add_row(f"{layer}{flag}", *cells(scores, names))
    table.add_section()
    if measured["average"]:
        table.add_row("average", *cells(measured["average"], names))
    table.add_row("majority class", *cells(measured["majority"], names))
    for name, scores in beside.items():
        table.add_row(name, *cells(scores, names))
    if "early_exit" in measured:
        table.add_row("early exit", *cells(measured["early_exit"]["scores"], names))
    return table


def early_exit_line(found: Mapping[str, Any]) -> str:
    """Where the texts left.

    >>> early_exit_line({"mean_layer": 1.5, "rows": {"1": 2, "2": 2}})
    'early exit: layer 1.50 on average; exit 1 50 %, exit 2 50 %'
    """
    total, last = sum(found["rows"].values()), list(found["rows"])[-1]
    shares = ", ".join(
        f"exit {layer} {100 * count / total:.0f} %" for layer, count in found["rows"].items()
    )
    told = f"early exit: layer {found['mean_layer']:.2f} on average; {shares}"
    if found["rows"][last] == total:
        return f"{told}. Nothing leaves early: calibrate again with more to lose (--max-drop)"
    return told


def class_table(classes: Mapping[str, Row]) -> Table:
    """Precision, recall and F1 of each class, and how often it is labelled and predicted."""
    table = Table("class", box=SIMPLE_HEAD, pad_edge=False)
    for name in ("precision", "recall", "f1", "rows", "predicted"):
        table.add_column(name, justify="right")
    for name, row in classes.items():
        shares = cells(row, ("precision", "recall", "f1"))
        table.add_row(name, *shares, f"{row['support']:.0f}", f"{row['predicted']:.0f}")
    return table


def metric_names(scores: Row) -> list[str]:
    """The columns: each metric, and `score` where it is none of them but their mean.

    >>> metric_names({"score": 70.0, "f1": 80.0, "accuracy": 60.0})
    ['score', 'f1', 'accuracy']
    >>> metric_names({"score": 0.0, "matthews": 0.0, "accuracy": 75.0})
    ['matthews', 'accuracy']
    """
    parts = [name for name in scores if name != "score"]
    return parts if scores["score"] == scores[parts[0]] else ["score", *parts]


def cells(scores: Row, names: list[str] | tuple[str, ...]) -> list[str]:
    """Percentages with one decimal."""
    return [f"{scores[name]:.1f}" if name in scores else "" for name in names]
