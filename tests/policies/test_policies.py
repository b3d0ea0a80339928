"""Each policy against its definition in plain Python, and what all of them share."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch

from exitwise.errors import ExitwiseError
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

Probs = Sequence[Sequence[float]]  # of one row, by exit
LAYERS = (1, 2, 4, 6)


def softmax(logits: Sequence[float], temperature: float) -> list[float]:
    largest = max(logits)
    powers = [math.exp((logit - largest) / temperature) for logit in logits]
    return [power / sum(powers) for power in powers]


def top(probs: Sequence[float]) -> int:
    return list(probs).index(max(probs))


def entropy(probs: Sequence[float]) -> float:
    return -sum(p * math.log(p) for p in probs if p > 0) / math.log(len(probs))


def counter(probs: Probs) -> int:
    """PABEE's counter, as its paper walks it."""
    count = 0
    for before, now in pairwise(probs):
        count = count + 1 if top(before) == top(now) else 0
    return count


def votes(probs: Probs) -> dict[int, int]:
    labels = [top(each) for each in probs]
    return {label: labels.count(label) for label in labels}


THRESHOLDS = {1: 0.8, 2: None, 4: 0.6, 6: 0.5}


def at(layer: int) -> float:
    """A threshold that no score reaches stands for never."""
    threshold = THRESHOLDS[layer]
    return math.inf if threshold is None else threshold


CASES: list[tuple[ExitPolicy, Callable[[Probs, Sequence[int]], bool]]] = [
    (ConfidencePolicy(threshold=0.7), lambda p, _: max(p[-1]) >= 0.7),
    (ConfidencePolicy(threshold=THRESHOLDS), lambda p, m: max(p[-1]) >= at(m[-1])),
    (ConfidencePolicy(threshold=None), lambda p, _: False),
    (EntropyPolicy(threshold=0.6), lambda p, _: entropy(p[-1]) <= 0.6),
    (MarginPolicy(threshold=0.4), lambda p, _: sorted(p[-1])[-1] - sorted(p[-1])[-2] >= 0.4),
    (PatiencePolicy(patience=0), lambda p, _: True),
    (PatiencePolicy(patience=1), lambda p, _: counter(p) >= 1),
    (PatiencePolicy(patience=2), lambda p, _: counter(p) >= 2),
    (
        PatientConfidencePolicy(patience=2, threshold=0.6),
        lambda p, _: len(p) >= 2 and all(max(each) >= 0.6 for each in p[-2:]),
    ),
    (
        PatientConfidencePolicy(patience=2, threshold=THRESHOLDS),
        lambda p, m: len(p) >= 2 and all(max(p[-i]) >= at(m[-i]) for i in (1, 2)),
    ),
    (
        PatientConfidencePolicy(patience=2, threshold=0.7, test="entropy"),
        lambda p, _: len(p) >= 2 and all(entropy(each) <= 0.7 for each in p[-2:]),
    ),
    (VotePolicy(votes=1), lambda p, _: True),
    (VotePolicy(votes=3), lambda p, _: max(votes(p).values()) >= 3),
    (FixedPolicy(layer=4), lambda _, m: m[-1] >= 4),
]
POLICIES_OF_CASES = [policy for policy, _ in CASES]


@pytest.fixture
def logits() -> np.ndarray:
    return np.random.default_rng(0).normal(0, 1.5, (len(LAYERS), 200, 3))


@pytest.mark.parametrize(("policy", "expected"), CASES)
@pytest.mark.parametrize("temperature", [1.0, 0.4])
def test_a_row_stops_where_the_definition_says(
    logits: np.ndarray, policy: ExitPolicy, expected: Any, temperature: float
) -> None:
    policy = replace(policy, temperatures=dict.fromkeys(LAYERS, temperature))
    for depth in range(1, len(LAYERS) + 1):
        decision = policy.decide(logits[:depth], LAYERS[:depth])
        for row in range(logits.shape[1]):
            probs = [softmax(list(each), temperature) for each in logits[:depth, row]]
            assert decision.stop[row] == expected(probs, LAYERS[:depth])
            np.testing.assert_allclose(decision.probabilities[row], probs[-1], rtol=1e-12)
            if not isinstance(policy, VotePolicy):
                assert decision.label[row] == top(probs[-1])


@pytest.mark.parametrize("name", ExitPolicy.registry)
def test_every_policy_that_there_is_has_a_case(name: str) -> None:
    assert ExitPolicy.registry[name] in {type(policy) for policy in POLICIES_OF_CASES}


@pytest.mark.parametrize("policy", POLICIES_OF_CASES)
def test_torch_and_numpy_decide_alike(logits: np.ndarray, policy: ExitPolicy) -> None:
    for depth in range(1, len(LAYERS) + 1):
        with_numpy = policy.decide(logits[:depth], LAYERS[:depth])
        with_torch = policy.decide(torch.from_numpy(logits[:depth]), LAYERS[:depth])
        for one, two in zip(with_numpy, with_torch, strict=True):
            assert isinstance(one, np.ndarray)
            assert isinstance(two, torch.Tensor)
            np.testing.assert_allclose(one, two.numpy(), rtol=1e-12)


@pytest.mark.parametrize("policy", POLICIES_OF_CASES)
def test_a_row_is_decided_the_same_alone_and_twice(logits: np.ndarray, policy: ExitPolicy) -> None:
    whole = policy.decide(logits, LAYERS)
    for _ in range(2):
        for row in (0, 17, 199):
            alone = policy.decide(logits[:, [row]], LAYERS)
            assert alone.stop[0] == whole.stop[row]
            assert alone.label[0] == whole.label[row]
    empty = policy.decide(logits[:, :0], LAYERS)
    assert empty.stop.shape == empty.label.shape == (0,)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize(
    "policy",
    [ConfidencePolicy(threshold=1.0), EntropyPolicy(threshold=0.0), MarginPolicy(threshold=1.0)],
)
def test_huge_logits_leave_at_the_first_exit(policy: ExitPolicy, dtype: torch.dtype) -> None:
    logits = torch.tensor([[[1e4, -1e4], [-1e4, 1e4]]], dtype=dtype)
    decision = policy.decide(logits, (1,))
    assert decision.stop.tolist() == [True, True]
    assert decision.label.tolist() == [0, 1]
    assert not decision.probabilities.isnan().any()


@pytest.mark.parametrize(("patience", "leaves_at"), [(0, 1), (1, 3), (2, 4), (3, 5)])
def test_patience_on_the_labels_0_1_1_1_1(patience: int, leaves_at: int) -> None:
    logits = np.zeros((5, 1, 2))
    logits[0, 0, 0] = logits[1:, 0, 1] = 1.0
    policy = PatiencePolicy(patience=patience)
    stops = [bool(policy.decide(logits[:m], tuple(range(1, m + 1))).stop[0]) for m in range(1, 6)]
    assert stops.index(True) + 1 == leaves_at


def test_the_majority_answers_and_a_tie_goes_to_the_larger_support() -> None:
    policy = VotePolicy(votes=2)
    majority = np.array([[[2.0, 0, 0]], [[3.0, 0, 0]], [[0, 9.0, 0]]])
    assert policy.decide(majority, (1, 2, 3)).label.tolist() == [0]
    tie = np.array([[[1.0, 0, 0]], [[1.0, 0, 0]], [[0, 4.0, 0]], [[0, 4.0, 0]]])
    assert policy.decide(tie, (1, 2, 3, 4)).label.tolist() == [1]
    popular = np.array([[[5.0, 0, 4.9]], [[0, 5.1, 4.9]]])  # label 2 has support and no vote
    assert policy.decide(popular, (1, 2)).label.tolist() == [1]


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (ConfidencePolicy(threshold=0.4), "from 0.5 to 1, or null for never, found 0.4"),
        (ConfidencePolicy(threshold={1: 0.9, 3: 0.9}), "thresholds for the layers 3, .* 1, 2, 4"),
        (EntropyPolicy(threshold=0.1, temperatures={5: 1.0}), "temperatures for the layers 5"),
        (PatientConfidencePolicy(patience=1, threshold=0.3), "from 0.5 to 1"),
        (PatiencePolicy(patience=3), "patience must be at most 2, .* 3 exits, found 3"),
        (PatientConfidencePolicy(patience=4, threshold=0.9), "patience must be at most 3"),
        (VotePolicy(votes=99), "votes must be at most 3, since the model has 3 exits, found 99"),
        (FixedPolicy(layer=3), "no exit at layer 3: the model has exits at"),
    ],
)
def test_what_cannot_occur_in_a_model_is_refused(policy: ExitPolicy, message: str) -> None:
    with pytest.raises(ExitwiseError, match=message):
        policy.check(layers=(1, 2, 4), num_labels=2)


@pytest.mark.parametrize("policy", POLICIES_OF_CASES)
def test_what_fits_a_model_passes(policy: ExitPolicy) -> None:
    policy.check(layers=LAYERS, num_labels=3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ConfidencePolicy(threshold=1.1), "to 1, or null for never, found 1.1"),
        (lambda: EntropyPolicy(threshold={1: -0.1}), "from 0 to 1, .* found -0.1"),
        (lambda: MarginPolicy(threshold=math.nan), "found nan"),
        (lambda: MarginPolicy(threshold=0.1, temperatures={2: 0.0}), "layer 2 must be positive"),
        (lambda: VotePolicy(votes=1, temperatures={1: math.inf}), "finite, found inf"),
        (lambda: PatiencePolicy(patience=-1), "at least 0, found -1"),
        (lambda: PatientConfidencePolicy(patience=0, threshold=0.5), "at least 1, found 0"),
        (lambda: VotePolicy(votes=0), "at least 1, found 0"),
        (lambda: FixedPolicy(layer=0), "counted from 1, found 0"),
    ],
)
def test_what_cannot_occur_at_all_is_refused_at_once(make: Any, message: str) -> None:
    with pytest.raises(ExitwiseError, match=message):
        make()
