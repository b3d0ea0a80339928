"""The claims of a table against its results."""

from dataclasses import dataclass

from exitwise.experiments.claims import Claim, Outcome, Quantity, Values
from exitwise.experiments.plan import Experiments
from exitwise.experiments.quantities import quantity
from exitwise.experiments.statistics import Comparison, paired_test, read_together
from exitwise.experiments.store import Store

Compared = tuple[Quantity, str, tuple[float, ...]]
"""A comparison by what it is: quantity, label and differences."""


@dataclass(frozen=True)
class Verdict:
    """A claim, what was found, and a sentence that says so."""

    claim: Claim
    outcome: Outcome
    tests: tuple[Comparison, ...]

    @property
    def sentence(self) -> str:
        """The outcome with its numbers."""
        words = "; ".join(in_words(test) for test in self.tests)
        return f"{self.outcome}: {words or 'nothing was run'}"


def verdicts(experiments: Experiments, name: str, store: Store) -> list[Verdict]:
    """Every claim of a table.

    P-values are corrected over all its comparisons (Holm), each of which counts once, however
    many claims make it.
    """
    values: dict[Quantity, Values] = {}
    compared: dict[Compared, Comparison] = {}
    by_claim: list[tuple[Claim, list[Compared]]] = []
    for claim in experiments.tables[name].claims:
        what = claim.quantity
        if what not in values:
            values[what] = quantity(experiments, name, store, what)
        keys = [
            (what, label, tuple(differences))
            for label, differences in claim.differences(values[what]).items()
        ]
        compared |= {key: paired_test(key[1], key[2]) for key in keys}
        by_claim.append((claim, keys))
    tests = dict(zip(compared, read_together(list(compared.values())), strict=True))
    return [
        Verdict(claim, claim.decide(found), found)
        for claim, keys in by_claim
        for found in [tuple(tests[key] for key in keys)]
    ]


def in_words(test: Comparison) -> str:
    """A test in a few words.

    >>> from exitwise.experiments.statistics import Comparison
    >>> in_words(Comparison("a > b", 1.234, 1, None, 1.0, 1.0, None, 1.0))
    'a > b: +1.23 (1 seed: nothing can be said)'
    """
    if test.interval is None:
        return f"{test.label}: {test.difference:+.2f} ({test.num_seeds} seed: nothing can be said)"
    low, high = test.interval
    seen = "" if test.visible is None else f", alone visible from {test.visible:.2f}"
    return (
        f"{test.label}: {test.difference:+.2f} [{low:+.2f}, {high:+.2f}], p {test.p:.3f}, "
        f"Holm {test.adjusted:.3f}, {test.num_seeds} seeds{seen}"
    )
