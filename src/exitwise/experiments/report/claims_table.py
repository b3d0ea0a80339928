"""What the paper says, what was found, and the sentence that says so."""

from collections.abc import Mapping, Sequence

from exitwise.experiments.plan import Experiments
from exitwise.experiments.report.html import Html, element, sortable_head, table
from exitwise.experiments.store import Store
from exitwise.experiments.verdicts import Verdict, in_words, verdicts

SIGNS = {"reproduced": "✓", "contradicted": "✗"}
"""Others are undecided."""


def all_verdicts(experiments: Experiments, store: Store) -> dict[str, list[Verdict]]:
    """Of every table that makes claims."""
    return {
        name: verdicts(experiments, name, store)
        for name, table in experiments.tables.items()
        if table.claims
    }


def findings(verdict: Verdict) -> list[str]:
    """The numbers that decided; comparisons of which nothing was run are left out."""
    return [in_words(test) for test in verdict.tests if test.num_seeds] or ["nothing was run"]


def claims_overview(caption: str, found: Sequence[tuple[str, Verdict]]) -> Html:
    """A line a claim, with a way to its table.

    Args:
        caption: of the table.
        found: verdicts with the name of their table.
    """
    rows = [
        [element("td", element("a", verdict.claim.source, href=f"#{name}")), *outcome(verdict)]
        for name, verdict in found
    ]
    head = sortable_head("where", "the paper says", "outcome")
    return table(caption, [head], rows, class_="sortable claims")


def claims_table(caption: str, found: Sequence[Verdict]) -> Html:
    """A line a claim, with the numbers that decided it."""
    rows = [
        [
            element("td", verdict.claim.source),
            *outcome(verdict),
            element("td", *(element("div", each) for each in findings(verdict)), class_="findings"),
        ]
        for verdict in found
    ]
    head = sortable_head("where", "the paper says", "outcome", "difference [95 % interval], tests")
    return table(caption, [head], rows, class_="sortable claims")


def outcome(verdict: Verdict) -> tuple[Html, Html]:
    """What the paper says, and what became of it."""
    kind = verdict.outcome.split()[0]
    text = element("td", verdict.claim.text)
    return text, element("td", sign(verdict), class_=f"outcome {kind}")


def sign(verdict: Verdict) -> str:
    """The outcome, told apart at a glance and without colours."""
    return f"{SIGNS.get(verdict.outcome, '?')} {verdict.outcome}"


def counted(found: Mapping[str, Sequence[Verdict]]) -> str:
    """How many claims came out how.

    >>> counted({})
    'no claims'
    """
    outcomes = [verdict.outcome for each in found.values() for verdict in each]
    counts = (f"{outcomes.count(each)} {each}" for each in dict.fromkeys(sorted(outcomes)))
    return ", ".join(counts) or "no claims"
