"""What counts as reproduced, contradicted, or neither."""

from collections.abc import Sequence

import pytest

from exitwise.experiments.claims import (
    BoundClaim,
    Claim,
    CountClaim,
    GreaterClaim,
    MostClaim,
    OrderClaim,
    SpreadClaim,
    Values,
)
from exitwise.experiments.statistics import paired_test, read_together
from exitwise.recipe import from_plain, to_plain

SAID = {"text": "it is so", "source": "Table 9"}
NOISE = (0.0, 0.1, -0.1, 0.05, -0.05)
MEMBERS = {
    "greater": {"better": "a", "worse": "b"},
    "order": {"order": ("a", "b", "c")},
    "count": {"better": "a", "worse": ("b",), "at_least": 1, "of": 2},
    "bound": {"row": "a", "above": 50.0},
    "most": {"best": "a", "others": ("b", "c")},
    "spread": {"less": ("a", "b"), "more": ("c", "d")},
}


def scores(**means: float | Sequence[float]) -> Values:
    """Five seeds of each row around its mean, on one task or several."""
    return {
        row: {
            f"task{number}": {seed: each + noise for seed, noise in enumerate(NOISE)}
            for number, each in enumerate([mean] if isinstance(mean, float) else mean)
        }
        for row, mean in means.items()
    }


def decided(claim: Claim, values: Values) -> str:
    tests = [paired_test(label, each) for label, each in claim.differences(values).items()]
    return claim.decide(read_together(tests))


@pytest.mark.parametrize("kind", Claim.registry)
def test_every_claim_reads_from_a_table_and_is_undecided_without_results(kind: str) -> None:
    claim = Claim.registry[kind](**SAID, **MEMBERS[kind])
    assert from_plain(type(claim), to_plain(claim)) == claim
    assert claim.rows
    assert decided(claim, {row: {} for row in claim.rows}).startswith("not decidable")
    assert decided(claim, {}).startswith("not decidable")


@pytest.mark.parametrize("kind", Claim.registry)
def test_no_claim_is_decided_by_one_seed(kind: str) -> None:
    claim = Claim.registry[kind](**SAID, **MEMBERS[kind])
    values = {row: {"task": {1: 90.0 - 5 * i}} for i, row in enumerate(claim.rows)}
    assert decided(claim, values).startswith("not decidable")


@pytest.mark.parametrize(
    ("a", "b", "outcome"),
    [(81.0, 80.0, "reproduced"), (79.0, 80.0, "contradicted"), (80.0, 80.0, "not decidable")],
)
def test_greater(a: float, b: float, outcome: str) -> None:
    values = {
        "a": {"t": {s: a + n for s, n in enumerate(NOISE)}},
        "b": {"t": {s: b - n for s, n in enumerate(NOISE)}},
    }
    assert decided(GreaterClaim(**SAID, better="a", worse="b"), values).startswith(outcome)


def test_only_seeds_that_both_have_are_compared() -> None:
    values = {"a": {"t": {1: 90.0, 2: 81.0, 3: 81.2}}, "b": {"t": {2: 80.0, 3: 80.0, 4: 10.0}}}
    found = GreaterClaim(**SAID, better="a", worse="b").differences(values)
    assert found["a > b on t"] == pytest.approx([1.0, 1.2])


def test_an_order_needs_its_ends_apart_and_no_neighbours_reversed() -> None:
    claim = OrderClaim(**SAID, order=("a", "b", "c"))
    wobble = {"c": {"task0": {s: 79.0 + 2 * n for s, n in enumerate(NOISE)}}}
    assert decided(claim, {**scores(a=81.0, b=80.0), **wobble}) == "reproduced"
    assert decided(claim, {**scores(a=79.0, b=79.0), **wobble}).startswith("not decidable")
    reversed_pair = {"b": {"task0": {s: 83.0 - n for s, n in enumerate(NOISE)}}}
    values = {**scores(a=81.0), **reversed_pair, **wobble}
    assert decided(claim, values) == "contradicted"


def test_counting_leaves_open_what_was_not_run() -> None:
    spread = {"b": {f"task{t}": {s: 80.0 - n for s, n in enumerate(NOISE)} for t in range(3)}}
    claim = CountClaim(**SAID, better="a", worse=("b",), at_least=2, of=3)
    assert decided(claim, {**scores(a=[82.0, 82.0, 78.0]), **spread}) == "reproduced"
    assert decided(claim, {**scores(a=[82.0, 78.0, 78.0]), **spread}) == "contradicted"
    assert decided(claim, {**scores(a=[82.0, 80.0, 78.0]), **spread}).startswith("not decid")


def test_a_quantity_between_two_bounds() -> None:
    claim = BoundClaim(**SAID, row="a", above=10.0, below=30.0)
    assert decided(claim, scores(a=20.0)) == "reproduced"
    assert decided(claim, scores(a=40.0)) == "contradicted"
    with pytest.raises(ValueError, match="give a bound"):
        BoundClaim(**SAID, row="a")


def test_ranges_are_compared_seed_by_seed() -> None:
    claim = SpreadClaim(**SAID, less=("a", "b"), more=("c", "d"))
    wide = {"d": {"task0": {s: 84.0 + n / 2 for s, n in enumerate(NOISE)}}}
    values = {**scores(a=80.0, b=80.2, c=80.0), **wide}
    assert decided(claim, values) == "reproduced"
    swapped = SpreadClaim(**SAID, less=("c", "d"), more=("a", "b"))
    assert decided(swapped, values) == "contradicted"


def test_an_order_of_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 2 rows"):
        OrderClaim(**SAID, order=("a",))


def test_a_range_of_one_row_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 2 rows on either side"):
        SpreadClaim(**SAID, less=("a", "b"), more=("c",))


def test_a_win_is_one_over_every_rival_and_a_loss_is_one_against_any() -> None:
    claim = CountClaim(**SAID, better="a", worse=("b", "c"), at_least=1, of=1)
    rivals = {r: {"task0": {s: 80.0 - n for s, n in enumerate(NOISE)}} for r in "bc"}
    assert decided(claim, {**scores(a=82.0), **rivals}) == "reproduced"
    rivals["c"] = {"task0": {s: 84.0 - n for s, n in enumerate(NOISE)}}
    assert decided(claim, {**scores(a=82.0), **rivals}) == "contradicted"
    with pytest.raises(ValueError, match="at_least be at most 1, found 2"):
        CountClaim(**SAID, better="a", worse=("b",), at_least=2, of=1)


def test_two_validation_sets_of_a_task_count_once() -> None:
    claim = CountClaim(**SAID, better="a", worse=("b",), at_least=1, of=7)
    values = {
        "a": {"mnli": {1: 80.0}, "mnli:mismatched": {1: 82.0}},
        "b": {"mnli": {1: 79.0}, "mnli:mismatched": {1: 79.0}},
    }
    assert claim.differences(values) == {"a > b on mnli": [2.0]}


def test_two_validation_sets_weigh_as_one_task_in_a_mean() -> None:
    values = {
        "a": {"mnli": {1: 80.0}, "mnli:mismatched": {1: 82.0}, "rte": {1: 60.0}},
        "b": {"mnli": {1: 79.0}, "mnli:mismatched": {1: 79.0}, "rte": {1: 54.0}},
    }
    found = GreaterClaim(**SAID, better="a", worse="b").differences(values)
    assert found == {"a > b on mnli, rte": [(2.0 + 6.0) / 2]}


@pytest.mark.parametrize(
    ("num_seeds", "tasks", "seeds"),
    [
        ((3, 3, 3), "t, u, v", 3),
        ((5, 5, 3), "t, u", 5),  # ten pairs against nine
        ((4, 3, 0), "t, u", 3),
        ((5, 1, 1), "t", 5),  # a single seed shows nothing
        ((2, 1, 1), "t", 2),
        ((1, 1, 0), "t, u", 1),
    ],
)
def test_tasks_with_few_seeds_do_not_hide_the_others(
    num_seeds: tuple[int, ...], tasks: str, seeds: int
) -> None:
    """Nor do they mix with them: each difference is a mean over the same tasks."""
    levels = dict(zip("tuv", (80.0, 50.0, 90.0), strict=True))
    rows = {"a": 1.0, "b": 0.0}
    values = {
        row: {
            task: dict.fromkeys(range(n), levels[task] + shift)
            for task, n in zip("tuv", num_seeds, strict=True)
        }
        for row, shift in rows.items()
    }
    found = GreaterClaim(**SAID, better="a", worse="b").differences(values)
    assert found == {f"a > b on {tasks}": pytest.approx([1.0] * seeds)}


def test_a_margin_makes_comparable_enough() -> None:
    values = {
        "a": {"t": {s: 79.8 + n for s, n in enumerate(NOISE)}},
        "b": {"t": {s: 80.0 - n for s, n in enumerate(NOISE)}},
    }
    claim = GreaterClaim(**SAID, better="a", worse="b", margin=0.5)
    assert decided(claim, values) == "reproduced"
    assert list(claim.differences(values)) == ["a > b - 0.5 on t"]
    assert decided(GreaterClaim(**SAID, better="a", worse="b"), values) != "reproduced"


def test_the_best_in_most_places_is_counted_seed_by_seed() -> None:
    claim = MostClaim(**SAID, best="a", others=("b", "c"))
    values = {
        "a": {"t:1": {1: 3.0, 2: 3.0}, "t:2": {1: 3.0, 2: 3.0}, "t:3": {1: 1.0, 2: 3.0}},
        "b": {"t:1": {1: 2.0, 2: 2.0}, "t:2": {1: 2.0, 2: 2.0}, "t:3": {1: 2.0, 2: 2.0}},
        "c": {"t:1": {1: 2.0, 2: 2.0}, "t:2": {1: 2.0, 2: 4.0}, "t:3": {1: 0.0, 2: 3.0}},
    }
    # Seed 1: two of three. Seed 2: one of three, a tie is no win.
    (found,) = claim.differences(values).values()
    assert found == pytest.approx([100 / 3, -100 / 3])
