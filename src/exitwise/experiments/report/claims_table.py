"""What the paper says, what was found, and the sentence that says so."""

from collections.abc import Mapping, Sequence

from exitwise.experiments.claims import Pair
from exitwise.experiments.pairs import pairs_of
from exitwise.experiments.plan import Experiments
from exitwise.experiments.report.html import Html, element, sortable_head, table
from exitwise.experiments.store import Store
from exitwise.experiments.verdicts import Verdict, in_words, verdicts

SIGNS = {"reproduced": "✓", "contradicted": "✗"}
"""Others are undecided."""

DECIDED = (
    "A claim is decided by paired t-tests over seeds, corrected over all comparisons of its table "
    "(Holm); the numbers stand with each table. Beside them stands how far the difference of a "
    "single seed varies over validation examples: half the width of the interval that holds 95 % "
    "of it when the examples are resampled, the same for both systems, on average over the seeds. "
    "Where 0 is inside, that seed alone shows no difference."
)


def all_verdicts(experiments: Experiments, store: Store) -> dict[str, list[Verdict]]:
    """Of every table that makes claims."""
    return {
        name: verdicts(experiments, name, store)
        for name, table in experiments.tables.items()
        if table.claims
    }


def findings(verdict: Verdict, noise: Mapping[Pair, str]) -> list[str]:
    """The numbers that decided, and how far a single seed can be trusted.

    Comparisons of which nothing was run are left out.

    Args:
        verdict: of a claim.
        noise: in words, of the pairs of its table.
    """
    decided = [in_words(test) for test in verdict.tests if test.num_seeds] or ["nothing was run"]
    return [*decided, *(noise[pair] for pair in pairs_of(verdict.claim) if pair in noise)]


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


def claims_table(caption: str, found: Sequence[Verdict], noise: Mapping[Pair, str]) -> Html:
    """A line a claim, with the numbers that decided it.

    Args:
        caption: of the table.
        found: verdicts of one table.
        noise: of its pairs, in words.
    """
    rows = [
        [
            element("td", verdict.claim.source),
            *outcome(verdict),
            element(
                "td",
                *(element("div", each) for each in findings(verdict, noise)),
                class_="findings",
            ),
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
