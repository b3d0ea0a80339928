"""Families of policies, from safest to fastest, and policies as plain data."""

import json

import numpy as np
import pytest

from exitwise.errors import ExitwiseError
from exitwise.inference.replay import replay, stops_of
from exitwise.policies import (
    ConfidencePolicy,
    EntropyPolicy,
    ExitPolicy,
    FixedPolicy,
    MarginPolicy,
    PatiencePolicy,
    PatientConfidencePolicy,
    VotePolicy,
    policy_from_plain,
    policy_to_plain,
)

LAYERS = (2, 4, 6)
MEMBERS = [
    ConfidencePolicy(threshold={2: 0.9, 4: None}, temperatures={2: 2.0}),
    ConfidencePolicy(threshold=0.9),
    EntropyPolicy(threshold=0.3),
    MarginPolicy(threshold=0.5),
    PatiencePolicy(patience=2),
    PatientConfidencePolicy(threshold=0.9, patience=1),
    PatientConfidencePolicy(threshold=0.2, patience=1, test="entropy"),
    VotePolicy(votes=2),
    FixedPolicy(layer=4),
]


def test_every_kind_is_here() -> None:
    assert {type(policy) for policy in MEMBERS} == set(ExitPolicy.registry.values())


@pytest.mark.parametrize("policy", MEMBERS, ids=lambda policy: type(policy).__name__)
def test_a_family_goes_from_nothing_leaves_to_everything_leaves(policy: ExitPolicy) -> None:
    logits = np.random.default_rng(0).normal(scale=2, size=(3, 300, 3))
    log_probs = policy.log_probabilities(logits, LAYERS)
    family = policy.variants(log_probs, LAYERS, size=50)
    depths = np.stack([stops_of(member, log_probs, LAYERS)[0] for member in family])
    assert (depths[0] == 2).all()
    assert (np.diff(depths, axis=0) <= 0).all()  # no row leaves later under a faster policy
    assert (depths[-1] == 0).all()
    for member in family:
        member.check(layers=LAYERS, num_labels=3)


@pytest.mark.parametrize("policy", MEMBERS, ids=lambda policy: type(policy).__name__)
def test_many_policies_on_the_same_rows_are_replayed_alike(policy: ExitPolicy) -> None:
    logits = np.random.default_rng(1).normal(scale=2, size=(3, 200, 3)).astype(np.float32)
    answers = replay(policy, logits, LAYERS)
    depths, labels = stops_of(policy, policy.log_probabilities(logits, LAYERS), LAYERS)
    np.testing.assert_array_equal(np.array(LAYERS)[depths], answers.layers)
    np.testing.assert_array_equal(labels, answers.labels)


def test_a_threshold_at_its_strictest_end_can_be_moved() -> None:
    log_probs = ConfidencePolicy(threshold=1.0).log_probabilities(np.zeros((2, 3, 2)), (1, 2))
    family = ConfidencePolicy(threshold=1.0).variants(log_probs, (1, 2))
    assert [stops_of(member, log_probs, (1, 2))[0].tolist() for member in family][-1] == [0] * 3


@pytest.mark.parametrize("policy", MEMBERS, ids=lambda policy: type(policy).__name__)
def test_plain_data_gives_the_policy_back(policy: ExitPolicy) -> None:
    assert policy_from_plain(json.loads(json.dumps(policy_to_plain(policy)))) == policy


@pytest.mark.parametrize(
    ("plain", "message"),
    [
        ({"kind": "confidenc", "threshold": 1}, "unknown policy 'confidenc', did you mean"),
        ({}, "unknown policy 'None'"),
        ({"kind": "confidence"}, "policy 'confidence' lacks threshold"),
        ({"kind": "patience", "patience": 1, "votes": 2}, "'patience' has no setting votes"),
        ({"kind": "confidence", "threshold": 2.0}, "is from 0 to 1, or null for never, found 2"),
        (
            {"kind": "confidence", "threshold": {"two": 0.5}},
            "threshold: the keys must be whole .* 'two'",
        ),
        ({"kind": "confidence", "threshold": "0.9"}, "threshold must be .*, found '0.9'"),
        ({"kind": "confidence", "threshold": [0.9]}, "number or null or a table, found"),
        ({"kind": "confidence", "threshold": True}, "threshold must be .*, found True"),
        ({"kind": "confidence", "threshold": {"1": "x"}}, "threshold.1 must be a number or null"),
        ({"kind": "vote", "votes": 1, "temperatures": None}, "must be a table, found None"),
        ({"kind": "vote", "votes": 1, "temperatures": {"1": None}}, "temperatures.1 must be a num"),
        ({"kind": "patience", "patience": "2"}, "'patience': patience must be a whole number"),
        ({"kind": "patience", "patience": 1.5}, "must be a whole number, found 1.5"),
        ({"kind": "fixed", "layer": "3"}, "layer must be a whole number, found '3'"),
        (
            {"kind": "patient_confidence", "threshold": None, "patience": 1, "test": "sure"},
            "test must be 'confidence' or 'entropy', found 'sure'",
        ),
    ],
)
def test_what_is_no_policy_is_refused(plain: dict[str, object], message: str) -> None:
    with pytest.raises(ExitwiseError, match=message):
        policy_from_plain(plain)
