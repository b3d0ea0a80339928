import numpy as np
import pytest

from exitwise.metrics import constant_warning, is_constant, majority_baseline, majority_class


def test_the_majority_baseline_of_mrpc_is_the_published_one() -> None:
    scores = majority_baseline(np.repeat([0, 1], [129, 279]), "f1_accuracy", 2)
    assert round(scores["accuracy"], 1) == 68.4
    assert round(scores["f1"], 1) == 81.2


@pytest.mark.field_case(62)
def test_the_majority_baseline_of_cola_is_zero() -> None:
    assert majority_baseline(np.repeat([0, 1], [322, 721]), "matthews", 2)["score"] == 0.0


def test_the_majority_of_the_training_labels_answers_where_it_is_given() -> None:
    labels, training = np.array([0, 0, 1]), np.array([1, 1, 0])
    scores = majority_baseline(labels, "accuracy", 2, majority=majority_class(training))
    assert scores["score"] == pytest.approx(100 / 3)


@pytest.mark.field_case(55)
def test_rows_without_label_do_not_vote_and_have_no_baseline() -> None:
    assert majority_class(np.array([-1, -1, 1])) == 1
    assert majority_baseline(np.array([-1, -1]), "accuracy", 2) == {}
    with pytest.raises(ValueError, match="needs a labelled row"):
        majority_class(np.array([-1]))


def test_of_equally_frequent_labels_the_smallest_is_the_majority() -> None:
    assert majority_class(np.array([2, 1, 1, 2])) == 1


@pytest.mark.parametrize(
    ("predictions", "constant"), [([1, 1, 1], True), ([1, 1, 0], False), ([1], False), ([], False)]
)
def test_several_equal_predictions_are_constant(predictions: list[int], constant: bool) -> None:
    assert is_constant(np.array(predictions, dtype=int)) is constant


@pytest.mark.field_case(62)
def test_a_constant_predictor_is_named_with_its_histogram() -> None:
    assert constant_warning(np.array([2, 2]), ["no", "maybe", "yes"]) == (
        "all 2 rows are predicted as 'yes' (no: 0, maybe: 0, yes: 2)"
    )
    assert constant_warning(np.array([2, 1]), ["no", "maybe", "yes"]) is None
