"""A table of the paper on the page: our numbers, the paper's, and the difference."""

from collections.abc import Iterator, Sequence

import numpy as np

from exitwise.experiments.claims import task_of
from exitwise.experiments.markdown import score_cell
from exitwise.experiments.report.html import Html, element, sortable_head, table
from exitwise.experiments.report.repeats import Repeat
from exitwise.experiments.report.state import State
from exitwise.experiments.scores import layer_scores, table_scores
from exitwise.experiments.table import Row

SCORE_OF = {
    "last": "last exit",
    "average": "mean of exits",
    "half": "middle exit",
    "quarter": "exit at a quarter",
}


def columns_shown(state: State, name: str) -> list[str]:
    """The columns of a table whose task is run at this scale."""
    tasks = {place.cell.task for place in state.places if place.table == name}
    columns = state.experiments.tables[name].columns
    return [column for column in columns if task_of(column) in tasks]


def score_table(state: State, name: str) -> Html:
    """Rows by columns; a number opens what stands behind it.

    Where the paper prints numbers, a column of the paper's is three of ours.
    """
    shown = state.experiments.tables[name]
    columns, scores = columns_shown(state, name), table_scores(state.experiments, name, state.store)
    has_paper = any(row.paper for row in shown.rows)
    has_groups = any(row.group for row in shown.rows)
    rows = []
    for row in shown.rows:
        cells = [element("th", row.name, scope="row")]
        if has_groups:
            cells.append(element("td", row.group, class_="label"))
        cells.append(element("td", SCORE_OF[row.score], class_="label"))
        for column in columns:
            values = list(scores[row.name].get(column, {}).values())
            behind = state.behind.get((name, row.name, task_of(column)))
            cells.append(our_cell(values, behind, f"{row.name}, {column}", state))
            if has_paper:
                cells += paper_cells(values, row.paper.get(column))
        rows.append(cells)
    first = ["system", *(["group"] if has_groups else []), "score"]
    caption = f"{shown.source}: ours as mean ± standard deviation (seeds), in %"
    return table(
        caption, score_head(first, columns, has_paper=has_paper), rows, class_="sortable scores"
    )


def score_head(first: Sequence[str], columns: Sequence[str], *, has_paper: bool) -> Iterator[Html]:
    """The tasks, and under each of them what its columns are."""
    parts = ["ours", "paper", "difference"] if has_paper else ["ours"]
    span = str(len(parts))
    yield element(
        "tr",
        element("td", colspan=str(len(first))),
        *(element("th", each, scope="colgroup", colspan=span, class_="task") for each in columns),
    )
    yield sortable_head(*first, *parts * len(columns))


def our_cell(values: Sequence[float], behind: Repeat | None, label: str, state: State) -> Html:
    """Mean, spread and number of seeds, or why there is no number."""
    words = score_cell(list(values), None) if values else missing(behind, state)
    inner = words
    if behind is not None:
        said = f"{words}: {label}, runs"
        inner = element("button", words, popovertarget=f"run-{behind.key}", aria_label=said)
    value = f"{np.mean(values)}" if values else ""
    return element("td", inner, class_="number first", data_value=value)


def paper_cells(values: Sequence[float], paper: float | None) -> tuple[Html, Html]:
    """The paper's number, and ours less the paper's."""
    gap = None if not values or paper is None else float(np.mean(values)) - paper
    return plain_number(paper, "{:.1f}"), plain_number(gap, "{:+.1f}")


def missing(behind: Repeat | None, state: State) -> str:
    """Why there is no number."""
    if behind is None:
        return "–"
    failed = any(cell.key in state.failures for cell in behind.cells)
    return "failed" if failed else "not run"


def plain_number(value: float | None, form: str) -> Html:
    """A number, or an empty cell that sorts last."""
    if value is None:
        return element("td", class_="number", data_value="")
    shown = form.format(value).replace("-", "\N{MINUS SIGN}")
    return element("td", shown, class_="number", data_value=f"{value}")


def layer_table(state: State, name: str) -> Html:
    """The numbers behind a layer–score curve: a line for each system and task."""
    shown = state.experiments.tables[name]
    found = layer_scores(state.experiments, name, state.store)
    layers = sorted({layer for row in found.values() for c in row.values() for layer in c})
    rows = [
        layer_row(row, column, found[row.name][column], layers)
        for column in columns_shown(state, name)
        for row in shown.rows
        if column in found[row.name]
    ]
    if not rows:
        return Html()
    head = sortable_head("system", "task", *(f"exit {layer}" for layer in layers))
    caption = f"{shown.source}: score of every exit"
    inner = table(caption, [head], rows, class_="sortable")
    return element("details", element("summary", "The numbers of the curves"), inner)


def layer_row(
    row: Row, column: str, scores: dict[int, dict[int, float]], layers: Sequence[int]
) -> list[Html]:
    """One system on one task."""
    cells = [element("th", row.name, scope="row"), element("td", column)]
    for layer in layers:
        values = list(scores.get(layer, {}).values())
        words, value = (score_cell(values, None), f"{np.mean(values)}") if values else ("", "")
        cells.append(element("td", words, class_="number", data_value=value))
    return cells
