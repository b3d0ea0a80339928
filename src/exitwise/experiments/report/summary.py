"""The results in Markdown: the part of `docs/results.md` that is not written by hand."""

from collections.abc import Mapping, Sequence

from exitwise.experiments.claims import Pair
from exitwise.experiments.figures import pictures
from exitwise.experiments.markdown import score_markdown
from exitwise.experiments.pairs import example_noise
from exitwise.experiments.plan import Experiments
from exitwise.experiments.report.claims_table import DECIDED, all_verdicts, counted, findings
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
        f"Claims of the paper: {counted(found)}. {DECIDED}",
    ]
    for name, table in experiments.tables.items():
        parts += [
            f"## {table.source}: {table.title}",
            " ".join(table.note.split()),
            score_markdown(experiments, name, store),
            "\n".join(claim_lines(found.get(name, []), example_noise(experiments, name, store))),
            *drawn.get(name, []),
        ]
    return "\n\n".join(part for part in parts if part) + "\n"


def claim_lines(found: Sequence[Verdict], noise: Mapping[Pair, str]) -> list[str]:
    """Items of a list.

    Args:
        found: verdicts of one table.
        noise: of its pairs, in words.
    """
    return [
        f"- **{each.outcome}**: {each.claim.text} ({each.claim.source}). "
        f"{'; '.join(findings(each, noise))}"
        for each in found
    ]
