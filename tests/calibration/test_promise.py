"""The promise: exact numbers, and a simulation of how often it is broken."""

import numpy as np
import pytest

from exitwise.calibration import Goal, calibrate
from exitwise.calibration.promise import (
    broken_rows,
    fastest_safe,
    fewest_rows,
    least_risk,
    p_value,
)
from exitwise.inference.replay import replay
from exitwise.policies import ConfidencePolicy

TABLE = [
    (300, 0.01, 0.05, 0, 0.04904),
    (500, 0.01, 0.05, 1, 0.03975),
    (1000, 0.01, 0.05, 4, 0.02869),
    (2000, 0.01, 0.05, 12, 0.03831),
    (5000, 0.01, 0.05, 38, 0.04657),
    (1000, 0.02, 0.05, 12, 0.03760),
    (1000, 0.005, 0.10, 1, 0.04009),
]


@pytest.mark.parametrize(("n", "alpha", "delta", "k", "expected"), TABLE)
def test_so_many_broken_rows_are_allowed_and_no_more(
    n: int, alpha: float, delta: float, k: int, expected: float
) -> None:
    assert p_value(k, n, alpha) == pytest.approx(expected, abs=5e-6)
    assert p_value(k, n, alpha) <= delta < p_value(k + 1, n, alpha)
    broken = np.zeros((3, n), bool)
    broken[1, :k] = True
    broken[2, : k + 1] = True
    assert fastest_safe(broken, alpha=alpha, delta=delta) == 1


@pytest.mark.parametrize(
    ("alpha", "delta", "rows"), [(0.01, 0.05, 299), (0.02, 0.05, 149), (0.005, 0.10, 460)]
)
def test_with_fewer_rows_nothing_can_be_promised(alpha: float, delta: float, rows: int) -> None:
    assert fewest_rows(alpha, delta) == rows
    assert p_value(0, rows, alpha) <= delta < p_value(0, rows - 1, alpha)
    assert fastest_safe(np.zeros((2, rows - 1), bool), alpha=alpha, delta=delta) is None
    assert least_risk(rows, delta) <= alpha < least_risk(rows - 1, delta)


def test_the_walk_ends_at_the_first_that_fails() -> None:
    broken = np.zeros((4, 400), bool)
    broken[1] = True  # the two after it would pass
    assert fastest_safe(broken, alpha=0.05, delta=0.05) == 0


def test_a_row_is_broken_where_only_the_full_model_is_right() -> None:
    full, early, labels = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 1]])
    assert broken_rows(full, early, labels).tolist() == [False, True, False, False]


@pytest.mark.field_case(14)
@pytest.mark.parametrize(("num_rows", "at_least"), [(400, 0.0), (4000, 0.02)])
def test_the_promise_is_broken_no_more_often_than_it_says(num_rows: int, at_least: float) -> None:
    alpha, delta, redraws = 0.02, 0.1, 500
    generator = np.random.default_rng(0)
    # A population in which each policy of the family breaks a few rows more than the one before.
    population, size = 200_000, 60
    first_broken_by = generator.integers(0, 20 * size, population)
    risks = np.array([(first_broken_by < member).mean() for member in range(size)])
    assert risks[0] == 0 < alpha < risks[-1]
    failures = 0
    for _ in range(redraws):
        drawn = first_broken_by[generator.integers(0, population, num_rows)]
        broken = drawn[None] < np.arange(size)[:, None]
        member = fastest_safe(broken, alpha=alpha, delta=delta)
        assert member is not None
        failures += risks[member] > alpha
    share = failures / redraws
    assert share <= delta + 3 * np.sqrt(delta * (1 - delta) / redraws)
    assert share >= at_least  # a procedure that never exits holds as well


@pytest.mark.slow
@pytest.mark.field_case(14)
def test_what_calibrate_promises_holds_for_the_texts_to_come() -> None:
    alpha, delta, redraws, layers = 0.02, 0.1, 500, (1, 2, 3)
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 2, 20_000)
    shared, sign = generator.normal(size=labels.shape), 2 * labels - 1
    margins = np.array(
        [
            quality * sign + shared + noise * generator.normal(size=labels.shape)
            for quality, noise in ((0.6, 1.2), (1.0, 0.8), (1.6, 0.3))
        ]
    )
    logits = np.stack([-margins, margins], axis=-1).astype(np.float32)
    right = logits[-1].argmax(axis=-1) == labels
    failures, depths = 0, []
    for redraw in range(redraws):
        rows = generator.integers(0, len(labels), 600)
        found = calibrate(
            logits[:, rows],
            labels[rows],
            layers,
            kind=ConfidencePolicy(threshold=None),
            goal=Goal(max_drop=100 * alpha),
            costs=[1.0, 2.0, 3.0],
            confidence=1 - delta,
            seed=redraw,
        )
        answers = replay(found.policy, logits, layers)
        failures += np.mean(right & (answers.labels != labels)) > alpha
        depths.append(answers.layers.mean())
    share = failures / redraws
    assert share <= delta + 3 * np.sqrt(delta * (1 - delta) / redraws)
    assert np.mean(depths) < 2.8  # a procedure that never exits holds as well
