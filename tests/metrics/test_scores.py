from typing import Any

import numpy as np
import pytest
import sklearn.metrics as oracle
from hypothesis import given
from hypothesis import strategies as st
from numpy import ndarray

from exitwise.metrics import (
    confusion_counts,
    cross_layer_average,
    official_score,
    score,
    score_exits,
)


def constant(answer: int, rows: int) -> ndarray:
    return np.full(rows, answer)


def test_the_reference_values_are_met(reference_values: dict[str, Any]) -> None:
    assert len(reference_values["glue_metrics"]) == 5
    for case in reference_values["glue_metrics"]:
        rows = np.array(case["predictions"]), np.array(case["gold"])
        both = score(*rows, "f1_accuracy", 2)
        assert both == pytest.approx(
            {
                "score": 100 * case["mean_of_f1_and_accuracy"],
                "f1": 100 * case["f1_of_class_1"],
                "accuracy": 100 * case["accuracy"],
            }
        )
        assert score(*rows, "matthews", 2)["score"] == pytest.approx(100 * case["matthews"])


@st.composite
def labelled_predictions(draw: st.DrawFn) -> tuple[ndarray, ndarray, int]:
    num_labels = draw(st.integers(2, 5))
    label = st.integers(0, num_labels - 1)
    pairs = draw(st.lists(st.tuples(label, label), min_size=1, max_size=30))
    predictions, labels = np.array(pairs).T
    return predictions, labels, num_labels


@given(labelled_predictions())
def test_scores_equal_those_of_scikit_learn(case: tuple[ndarray, ndarray, int]) -> None:
    predictions, labels, num_labels = case
    average = {"labels": [1]} if num_labels == 2 else {}
    f1 = oracle.f1_score(labels, predictions, average="macro", zero_division=0, **average)
    accuracy = oracle.accuracy_score(labels, predictions)
    assert score(predictions, labels, "f1", num_labels) == pytest.approx(
        {"score": 100 * f1, "f1": 100 * f1, "accuracy": 100 * accuracy}
    )
    if len({*labels, *predictions}) > 1:  # of a single class scikit-learn warns
        matthews = oracle.matthews_corrcoef(labels, predictions)
        assert score(predictions, labels, "matthews", num_labels)["score"] == pytest.approx(
            100 * matthews, abs=1e-9
        )


@pytest.mark.field_case(62)
@pytest.mark.parametrize("labels", [[1, 1, 1, 0], [1, 1, 1, 1], [0, 0, 0, 0]])
def test_matthews_of_a_constant_answer_is_zero_without_a_warning(labels: list[int]) -> None:
    assert score(constant(1, 4), np.array(labels), "matthews", 2)["score"] == 0.0


@pytest.mark.field_case(63)
def test_matthews_is_the_score_and_accuracy_stands_beside_it() -> None:
    scores = score(np.array([1, 0, 0, 0]), np.array([1, 0, 0, 1]), "matthews", 2)
    assert scores["score"] == scores["matthews"] == pytest.approx(100 / 3**0.5)
    assert scores["accuracy"] == 75.0


@pytest.mark.field_case(64)
def test_f1_and_accuracy_are_both_named_beside_their_mean() -> None:
    scores = score(constant(1, 408), np.repeat([1, 0], [279, 129]), "f1_accuracy", 2)
    assert {name: round(value, 1) for name, value in scores.items()} == {
        "score": 74.8,
        "f1": 81.2,
        "accuracy": 68.4,
    }


def test_macro_f1_leaves_out_a_class_that_nobody_names() -> None:
    assert score(np.array([0, 1]), np.array([0, 1]), "f1", 3)["score"] == 100.0


def test_binary_f1_without_class_1_is_zero() -> None:
    assert score(constant(0, 3), constant(0, 3), "f1", 2)["f1"] == 0.0


def test_matthews_of_large_data_does_not_overflow() -> None:
    labels = np.repeat(np.array([0, 1], dtype=np.int32), 200_000)
    assert score(labels, labels, "matthews", 2)["score"] == 100.0


@pytest.mark.field_case(55)
def test_rows_without_label_have_no_scores() -> None:
    assert score(np.array([1, 0]), constant(-1, 2), "accuracy", 2) == {}


@pytest.mark.field_case(55)
def test_a_row_without_label_does_not_count_as_an_error() -> None:
    scores = score(np.array([1, 0, 1]), np.array([1, -1, 0]), "accuracy", 2)
    assert scores["score"] == 50.0


@pytest.mark.parametrize("metric", ["accuracy", "f1", "matthews", "f1_accuracy"])
@pytest.mark.parametrize("num_labels", [2, 3])
def test_many_confusion_matrices_are_scored_as_one_by_one(metric: str, num_labels: int) -> None:
    random = np.random.default_rng(0)
    rows = random.integers(num_labels, size=(20, 2, 6))
    rows[0] = 0  # undefined correlation, absent classes
    counts = np.array([confusion_counts(*each, num_labels) for each in rows])
    expected = [score(*each, metric, num_labels)["score"] for each in rows]
    assert official_score(counts, metric).tolist() == expected
    grid = counts.reshape(4, 5, num_labels, num_labels)
    assert official_score(grid, metric).flatten().tolist() == expected


def test_an_unknown_metric_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="one of accuracy, f1, matthews, f1_accuracy, found 'mcc'"):
        score(constant(1, 1), constant(1, 1), "mcc", 2)


@pytest.mark.parametrize(
    ("predictions", "labels", "message"),
    [
        ([0], [2], "labels must be 0 … 1, found 2"),
        ([-1], [0], "predictions must be 0 … 1, found -1"),
    ],
)
def test_a_class_that_does_not_exist_is_refused(
    predictions: list[int], labels: list[int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        score(np.array(predictions), np.array(labels), "accuracy", 2)


def test_each_exit_is_scored_by_its_own_logits() -> None:
    right, wrong = np.eye(2), 1 - np.eye(2)  # [n, k]: rows of class 0 and 1
    scores = score_exits(np.stack([wrong, right]), (3, 12), np.array([0, 1]), "accuracy")
    assert {layer: of_layer["score"] for layer, of_layer in scores.items()} == {3: 0.0, 12: 100.0}


def test_logits_without_a_layer_are_refused() -> None:
    with pytest.raises(ValueError, match="logits of 2 exits for 1 layers"):
        score_exits(np.zeros((2, 1, 2)), (1,), np.array([0]), "accuracy")


@pytest.mark.field_case(64)
def test_the_cross_layer_average_is_taken_of_each_metric_and_counts_the_last_layer() -> None:
    layers = {1: {"f1": 60.0, "accuracy": 0.0}, 2: {"f1": 80.0, "accuracy": 30.0}}
    assert cross_layer_average(layers | {3: {"f1": 100.0, "accuracy": 60.0}}) == {
        "f1": 80.0,
        "accuracy": 30.0,
    }


@pytest.mark.parametrize("layers", [(), (2,), (1, 3)])
def test_a_cross_layer_average_over_some_layers_is_refused(layers: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="needs the layers 1 … M"):
        cross_layer_average({layer: {"f1": 1.0} for layer in layers})


@pytest.mark.field_case(55)
def test_the_cross_layer_average_of_rows_without_label_is_empty() -> None:
    assert cross_layer_average({1: {}, 2: {}}) == {}
