"""The results in Markdown: the part of `docs/results.md` that is not written by hand."""

from exitwise.experiments.figures import pictures
from exitwise.experiments.markdown import score_markdown
from exitwise.experiments.plan import Experiments
from exitwise.experiments.report.claims_table import all_verdicts, counted, findings
from exitwise.experiments.report.commands import Commands
from exitwise.experiments.report.provenance import provenance
from exitwise.experiments.report.state import State
from exitwise.experiments.store import Store
from exitwise.experiments.verdicts import Verdict


def results_markdown(experiments: Experiments, store: Store, *, figures: str = "figures") -> str:
    """Where the numbers come from, then each table with its verdicts and pictures.

    Args:
        experiments: the tables at one scale.
        store: the results.
        figures: the folder of the pictures, as seen from the page.
    """
    state = State(experiments, store, Commands(store.folder.name))
    found = all_verdicts(experiments, store)
    drawn: dict[str, list[str]] = {}
    for picture in pictures(experiments, store):
        drawn.setdefault(picture.table, []).append(
            f"![{picture.caption}]({figures}/{picture.name}.png)"
        )
    parts = [
        "\n".join(f"- {name}: {value}" for name, value in provenance(state)),
        f"Claims of the paper: {counted(found)}.",
    ]
    for name, table in experiments.tables.items():
        parts += [
            f"## {table.source}: {table.title}",
            " ".join(table.note.split()),
            score_markdown(experiments, name, store),
            "\n".join(map(claim_line, found.get(name, []))),
            *drawn.get(name, []),
        ]
    return "\n\n".join(part for part in parts if part) + "\n"


def claim_line(verdict: Verdict) -> str:
    """An item of a list."""
    claim = verdict.claim
    return f"- **{verdict.outcome}**: {claim.text} ({claim.source}). {'; '.join(findings(verdict))}"
