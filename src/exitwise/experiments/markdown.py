"""Tables of scores in Markdown: ours with their spread, the paper's beside them."""

from collections.abc import Iterable

from exitwise.experiments.claims import task_of
from exitwise.experiments.plan import Experiments
from exitwise.experiments.scores import table_scores
from exitwise.experiments.statistics import summary
from exitwise.experiments.store import Store

MARK = "<!-- generated from here on -->"
"""Stands on a page between what is written by hand and what is not."""


def score_markdown(experiments: Experiments, name: str, store: Store) -> str:
    """Rows by columns: mean ± standard deviation (seeds), and the paper's number in brackets."""
    table = experiments.tables[name]
    scores = table_scores(experiments, name, store)
    columns = [column for column in table.columns if task_of(column) in experiments.overlay.tasks]
    rows = [
        [
            row.name,
            *(
                score_cell(list(scores[row.name].get(column, {}).values()), row.paper.get(column))
                for column in columns
            ),
        ]
        for row in table.rows
    ]
    return markdown(["system", *columns], rows)


def score_cell(values: list[float], paper: float | None) -> str:
    """Ours, then the paper's.

    >>> score_cell([79.0, 81.0], 86.9)
    '80.0 ± 1.4 (2) [86.9]'
    >>> score_cell([], None)
    '–'
    """
    words = "–"
    if values:
        found = summary(values)
        spread = "" if found.deviation is None else f" ± {found.deviation:.1f}"
        words = f"{found.mean:.1f}{spread} ({found.num_seeds})"
    return words if paper is None else f"{words} [{paper:.1f}]"


def markdown(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table.

    >>> print(markdown(["run", "score"], [["ce", "82.0"]]))
    | run | score |
    | --- | --- |
    | ce | 82.0 |
    """
    names = list(header)
    lines = [names, ["---"] * len(names), *(list(row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
