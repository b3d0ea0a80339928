"""Metrics: scores per exit, the baselines beside them, per-class tables, calibration error."""

from exitwise.metrics.baselines import (
    constant_warning,
    is_constant,
    majority_baseline,
    majority_class,
)
from exitwise.metrics.calibration_error import expected_calibration_error
from exitwise.metrics.counts import UNLABELLED, confusion_counts, num_labelled
from exitwise.metrics.per_class import ClassScores, class_table
from exitwise.metrics.scores import (
    Metric,
    Scores,
    cross_layer_average,
    official_score,
    score,
    score_exits,
)

__all__ = [
    "UNLABELLED",
    "ClassScores",
    "Metric",
    "Scores",
    "class_table",
    "confusion_counts",
    "constant_warning",
    "cross_layer_average",
    "expected_calibration_error",
    "is_constant",
    "majority_baseline",
    "majority_class",
    "num_labelled",
    "official_score",
    "score",
    "score_exits",
]
