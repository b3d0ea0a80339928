"""Exit policies: when a text leaves. They take arrays of numpy or torch and need neither."""

from exitwise.policies.base import Decision, ExitPolicy, Threshold, ThresholdPolicy
from exitwise.policies.confidence import ConfidencePolicy
from exitwise.policies.entropy import EntropyPolicy
from exitwise.policies.fixed import FixedPolicy
from exitwise.policies.margin import MarginPolicy
from exitwise.policies.patience import PatiencePolicy
from exitwise.policies.patient_confidence import PatientConfidencePolicy
from exitwise.policies.plain import policy_from_plain, policy_to_plain
from exitwise.policies.vote import VotePolicy

__all__ = [
    "ConfidencePolicy",
    "Decision",
    "EntropyPolicy",
    "ExitPolicy",
    "FixedPolicy",
    "MarginPolicy",
    "PatiencePolicy",
    "PatientConfidencePolicy",
    "Threshold",
    "ThresholdPolicy",
    "VotePolicy",
    "policy_from_plain",
    "policy_to_plain",
]
