"""Temperatures, search and promise together, on logits that are made here."""

import re
from dataclasses import replace

import numpy as np
import pytest

from exitwise.calibration import Calibration, Goal, calibrate, fit_temperature
from exitwise.calibration.calibrate import check_promise
from exitwise.calibration.search import StoredRows, search
from exitwise.errors import ExitwiseError
from exitwise.inference import replay
from exitwise.metrics import expected_calibration_error, score
from exitwise.policies import (
    ConfidencePolicy,
    EntropyPolicy,
    ExitPolicy,
    FixedPolicy,
    MarginPolicy,
    PatiencePolicy,
    PatientConfidencePolicy,
    VotePolicy,
)

LAYERS = (1, 2, 3, 4)
COSTS = (1.0, 2.0, 3.0, 4.0)
KINDS = [
    ConfidencePolicy(threshold=None),
    EntropyPolicy(threshold=None),
    MarginPolicy(threshold=None),
    PatientConfidencePolicy(threshold=None, patience=1),
    PatientConfidencePolicy(threshold=None, patience=2, test="entropy"),
    PatiencePolicy(patience=0),
    VotePolicy(votes=1),
    FixedPolicy(layer=1),
]


def name(policy: ExitPolicy) -> str:
    return type(policy).__name__


def made(num_rows: int = 600, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Exits that get better with depth and are three times as sure as they should be."""
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, 3, num_rows)
    signal = np.eye(3)[labels] * generator.exponential(1.5, (num_rows, 1))
    quality = np.array([1.0, 1.6, 2.0, 2.4])[:, None, None]
    noise = generator.normal(size=(4, num_rows, 3))
    return (3 * (quality * signal + noise)).astype(np.float32), labels


def of(goal: Goal, kind: ExitPolicy = KINDS[0], **settings: object) -> Calibration:
    logits, labels = made()
    return calibrate(logits, labels, LAYERS, kind=kind, goal=goal, costs=COSTS, **settings)


@pytest.mark.field_case(67)
def test_a_temperature_finds_the_scale_that_was_put_in() -> None:
    generator = np.random.default_rng(0)
    logits = generator.normal(scale=2, size=(20_000, 3))
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    labels = (probabilities.cumsum(axis=-1) > generator.random((20_000, 1))).argmax(axis=-1)
    for scale in (0.2, 1.0, 3.0):
        assert fit_temperature(scale * logits, labels) == pytest.approx(scale, rel=0.05)
    assert fit_temperature(1000 * logits, labels) == pytest.approx(20, rel=1e-3)  # its bound


@pytest.mark.field_case(67)
def test_the_calibration_error_falls_and_is_told_for_every_exit() -> None:
    found = of(Goal(max_drop=1.0))
    assert set(found.errors) == set(LAYERS)
    assert all(after < before for before, after in found.errors.values())
    logits, labels = made()
    temperature = found.policy.temperatures[1]
    scaled = logits[0].astype(float) / temperature
    probabilities = np.exp(scaled) / np.exp(scaled).sum(axis=-1, keepdims=True)
    expected = expected_calibration_error(probabilities, labels)
    assert found.errors[1][1] == pytest.approx(expected)


@pytest.mark.field_case(8)
@pytest.mark.parametrize("kind", KINDS, ids=name)
@pytest.mark.parametrize("max_drop", [0.0, 2.0, 100.0])
def test_the_drop_asked_for_is_kept_and_the_numbers_are_those_of_a_replay(
    kind: ExitPolicy, max_drop: float
) -> None:
    if isinstance(kind, VotePolicy):
        max_drop += 1  # a vote of all exits need not be the last exit's answer
    found = of(Goal(max_drop=max_drop), kind)
    logits, labels = made()
    answers = replay(found.policy, logits, LAYERS)
    assert score(answers.labels, labels, "accuracy", 3)["score"] == pytest.approx(found.score)
    assert answers.histogram(LAYERS) == found.histogram
    assert found.drop <= max_drop + 1e-9
    assert found.cost == pytest.approx(answers.layers.mean() / 4)
    assert found.mean_layer == pytest.approx(answers.layers.mean())
    if max_drop == 100:
        first = kind.patience if isinstance(kind, PatientConfidencePolicy) else 1
        assert found.histogram[first] == 600


def test_exit_by_exit_is_as_cheap_as_one_threshold_for_all_or_cheaper() -> None:
    logits, labels = made()
    kind = replace(KINDS[0], temperatures=dict.fromkeys(LAYERS, 3.0))
    rows = StoredRows(
        kind.log_probabilities(logits, LAYERS), labels, LAYERS, "accuracy", np.array(COSTS)
    )
    goal = Goal(max_drop=1.0)
    shared = goal.best(map(rows.point, rows.variants(kind)))
    best = search(kind, rows, goal)
    assert shared is not None
    assert best is not None
    assert best.cost < shared.cost


@pytest.mark.parametrize("max_cost", [1.0, 2.5, 4.0])
def test_the_cost_asked_for_is_kept(max_cost: float) -> None:
    found = of(Goal(max_cost=max_cost))
    assert found.cost * 4 <= max_cost + 1e-9
    assert found.drop <= of(Goal(max_cost=1.0)).drop


def test_a_cost_that_no_exit_has_is_refused_with_the_least() -> None:
    with pytest.raises(ExitwiseError, match=r"no policy meets 0\.5 layers.*takes 1 already"):
        of(Goal(max_cost=0.5))


@pytest.mark.field_case(14)
def test_a_promise_is_made_on_rows_that_chose_nothing() -> None:
    logits, labels = made(4000)
    settings = {"kind": KINDS[0], "goal": Goal(max_drop=2.0), "costs": COSTS, "confidence": 0.95}
    found = calibrate(logits, labels, LAYERS, **settings)
    assert found.num_fitted == found.num_measured == 2000
    assert "with 95 % confidence" in str(found.promise)
    assert found.cost < 0.9
    order = np.random.default_rng(42).permutation(4000)
    changed = labels.copy()
    half = order[2000:]
    changed[half] = (changed[half] + 1) % 3  # the promise's half decides how far, not the shape
    with_other_half = calibrate(logits, changed, LAYERS, **settings)
    assert with_other_half.policy.temperatures == found.policy.temperatures
    others, other_labels = made(50_000, seed=1)
    answers = replay(found.policy, others, LAYERS).labels
    broken = (others[-1].argmax(axis=-1) == other_labels) & (answers != other_labels)
    assert broken.mean() <= 0.02


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"confidence": 0.95, "goal": Goal(max_drop=0.5)},
            r"1196 labelled rows.*found 600: .*--max-drop 1 ",
        ),
        ({"confidence": 0.95, "metric": "f1"}, "promise counts wrong rows, which f1 does not"),
        ({"confidence": 0.95, "goal": Goal(max_cost=2.0)}, "give --max-drop with --confidence"),
        ({"confidence": 95.0}, "confidence is between 0 and 1, found 95"),
        ({"confidence": 0.95, "goal": Goal(max_drop=0.0)}, "between 0 and 100 points, found 0"),
    ],
)
def test_a_promise_that_cannot_be_made_is_refused(
    settings: dict[str, object], message: str
) -> None:
    with pytest.raises(ExitwiseError, match=message):
        of(**{"goal": Goal(max_drop=1.0)} | settings)


@pytest.mark.field_case(14)
@pytest.mark.parametrize("num_rows", [500, 501])
def test_the_least_drop_that_is_told_can_be_promised(num_rows: int) -> None:
    logits, labels = made(num_rows)
    settings = {"kind": KINDS[0], "costs": COSTS, "confidence": 0.95}
    with pytest.raises(ExitwiseError, match=rf"found {num_rows}: .*--max-drop 1\.2 ") as refused:
        calibrate(logits, labels, LAYERS, goal=Goal(max_drop=1.0), **settings)
    told = re.findall(r"--max-drop ([\d.]+) ", str(refused.value))
    check_promise(Goal(max_drop=float(told[0])), "accuracy", 0.95, num_rows)


@pytest.mark.field_case(7)
def test_it_says_so_if_no_text_leaves() -> None:
    logits, labels = made()
    logits[:3] = 0  # shallow exits know nothing
    found = calibrate(logits, labels, LAYERS, kind=KINDS[0], goal=Goal(max_drop=0.5), costs=COSTS)
    assert found.histogram[4] == 600
    assert any("no text leaves before the last layer" in note for note in found.notes)


@pytest.mark.field_case(14)
def test_it_says_so_if_nothing_is_promised() -> None:
    assert any("nothing is promised" in note for note in of(Goal(max_drop=1.0)).notes)


@pytest.mark.parametrize("confidence", [None, 0.5])
@pytest.mark.parametrize(
    ("num_rows", "message"), [(1, "found 1"), (19, "found 19"), (0, "found 0")]
)
def test_too_few_rows_are_refused(num_rows: int, message: str, confidence: float | None) -> None:
    logits, labels = made()
    labels[num_rows:] = -1
    settings = {"kind": KINDS[0], "goal": Goal(max_drop=1.0), "costs": COSTS}
    with pytest.raises(ExitwiseError, match=f"at least 20 labelled rows, {message}"):
        calibrate(logits, labels, LAYERS, confidence=confidence, **settings)


def test_rows_of_one_class_are_refused() -> None:
    logits, labels = made()
    with pytest.raises(ExitwiseError, match="rows of at least two classes, found 1"):
        calibrate(
            logits, labels * 0 + 1, LAYERS, kind=KINDS[0], goal=Goal(max_drop=1.0), costs=COSTS
        )


@pytest.mark.parametrize(("num_rows", "is_told"), [(199, True), (200, False)])
def test_it_says_so_if_rows_are_few(num_rows: int, is_told: bool) -> None:
    logits, labels = made(num_rows)
    found = calibrate(logits, labels, LAYERS, kind=KINDS[0], goal=Goal(max_drop=1.0), costs=COSTS)
    assert any("199 rows are few" in note for note in found.notes) is is_told


def test_rows_without_label_are_left_out() -> None:
    logits, labels = made()
    labels[:100] = -1
    found = calibrate(logits, labels, LAYERS, kind=KINDS[0], goal=Goal(max_drop=1.0), costs=COSTS)
    assert found.num_measured == 500


def test_a_kind_that_needs_more_exits_than_there_are_is_refused() -> None:
    logits, labels = made()
    kind = PatientConfidencePolicy(threshold=None, patience=2)
    with pytest.raises(ExitwiseError, match="patience must be at most 1, since the model has 1"):
        calibrate(logits[:1], labels, (1,), kind=kind, goal=Goal(max_drop=1.0), costs=[1.0])
