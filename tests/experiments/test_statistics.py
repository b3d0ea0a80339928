"""How sure differences are."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from exitwise.experiments.statistics import (
    bootstrap_interval,
    holm,
    paired_test,
    percentile_interval,
    read_together,
    resampled_rows,
    sign_flip_p,
    smallest_visible,
    summary,
    t_interval,
)

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=8)


def test_the_t_interval_is_that_of_the_tables() -> None:
    low, high = t_interval([1.0, 2.0, 3.0])
    assert high == pytest.approx(2 + 4.302653 / math.sqrt(3), abs=1e-5)  # t at 97.5 %, 2 degrees
    assert low == pytest.approx(4 - high)


def test_a_single_score_has_no_spread() -> None:
    assert summary([80.0]) == (80.0, None, 1, None)
    assert summary([80.0, 80.0]).interval == (80.0, 80.0)


def test_resampled_seeds_give_an_interval_within_the_values_that_repeats() -> None:
    values = [78.0, 79.0, 80.5, 81.0, 79.5]
    low, high = bootstrap_interval(values)
    assert min(values) <= low < np.mean(values) < high <= max(values)
    assert bootstrap_interval(values) == (low, high)
    narrow, wide = high - low, np.diff(t_interval(values))[0]
    assert narrow < wide
    assert bootstrap_interval([80.0, 80.0]) == (80.0, 80.0)


def test_the_interval_over_examples_has_the_width_of_the_binomial() -> None:
    is_right = np.arange(400) >= 100  # 75 % right
    low, high = percentile_interval(100 * is_right[resampled_rows(400)].mean(axis=1))
    expected = 2 * 1.96 * 100 * math.sqrt(0.75 * 0.25 / 400)
    assert high - low == pytest.approx(expected, rel=0.1)
    assert low < 75 < high


def test_equal_seeds_draw_equal_rows() -> None:
    rows = resampled_rows(60, resamples=50)
    assert rows.shape == (50, 60)
    assert len({tuple(each) for each in rows.tolist()}) == 50
    assert set(rows.flat) == set(range(60))
    assert np.array_equal(resampled_rows(60, resamples=50), rows)
    assert not np.array_equal(resampled_rows(60, seed=1, resamples=50), rows)


def test_the_paired_test_is_that_of_scipy_on_both_rows_of_scores() -> None:
    first, second = [80.0, 81.5, 79.0, 82.0], [79.0, 81.0, 79.5, 80.0]
    test = paired_test("a > b", [a - b for a, b in zip(first, second, strict=True)])
    assert test.p == pytest.approx(stats.ttest_rel(first, second).pvalue)
    assert test.difference == pytest.approx(0.75)
    assert test.interval is not None
    assert test.interval[0] < 0 < test.interval[1]


@pytest.mark.parametrize(("count", "least"), [(2, 0.5), (3, 0.25), (5, 0.0625)])
def test_few_signs_cannot_be_significant(count: int, least: float) -> None:
    assert sign_flip_p(np.arange(1.0, count + 1)) == least


def test_sign_flips_agree_with_counting_by_hand() -> None:
    # means of ±1 ±2: 1.5, 0.5, -0.5, -1.5; all four are at least 0.5 away from zero
    assert sign_flip_p(np.array([-1.0, 2.0])) == 1.0


@pytest.mark.parametrize("differences", [[], [3.0]])
def test_one_seed_says_nothing(differences: list[float]) -> None:
    test = paired_test("a > b", differences)
    assert (test.p, test.interval, test.visible) == (1.0, None, None)


def test_equal_differences_are_judged_by_their_signs_alone() -> None:
    assert paired_test("a > b", [0.5, 0.5, 0.5]).p == 0.25
    assert paired_test("a > b", [0.0, 0.0, 0.0]).p == 1.0


def test_what_is_visible_is_found_in_four_of_five_experiments() -> None:
    delta = smallest_visible(2.0, 5)
    random = np.random.default_rng(0)
    samples = random.normal(delta, 2.0, size=(4000, 5))
    found = stats.ttest_1samp(samples, 0.0, axis=1).pvalue <= 0.05
    assert found.mean() == pytest.approx(0.8, abs=0.02)


def test_with_many_seeds_it_is_the_formula_of_the_normal_distribution() -> None:
    expected = (1.959964 + 0.841621) * 3.0 / math.sqrt(1000)
    assert smallest_visible(3.0, 1000) == pytest.approx(expected, rel=0.005)
    assert smallest_visible(0.0, 5) == 0.0


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]


@given(P_VALUES)
def test_adjusted_p_values_keep_their_order_and_never_shrink(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(raw <= new <= 1 for raw, new in zip(p_values, adjusted, strict=True))
    assert min(adjusted) == pytest.approx(min(1.0, len(p_values) * min(p_values)))
    pairs = sorted(zip(p_values, adjusted, strict=True))
    assert [new for _, new in pairs] == sorted(new for _, new in pairs)


def test_a_number_that_is_none_is_left_out() -> None:
    assert paired_test("a > b", [1.0, math.nan, 2.0]) == paired_test("a > b", [1.0, 2.0])


def test_comparisons_of_one_seed_do_not_make_the_others_harder() -> None:
    tests = [paired_test("a > b", [1.0, 1.1, 0.9]), paired_test("a > c", [1.0])]
    together = read_together(tests)
    assert together[0].adjusted == tests[0].p
    assert together[1].adjusted == 1.0
