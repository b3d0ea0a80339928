import numpy as np
import pytest
import sklearn.metrics as oracle

from exitwise.metrics import ClassScores, class_table


def test_the_table_equals_scikit_learn_class_by_class() -> None:
    predictions, labels = np.array([0, 1, 1, 2, 2, 0]), np.array([0, 0, 1, 2, 1, 0])
    rates = oracle.precision_recall_fscore_support(
        labels, predictions, labels=range(4), zero_division=0
    )
    table = class_table(predictions, labels, 4)
    assert np.allclose(np.array(table)[:, :3], 100 * np.array(rates[:3]).T)
    assert [row.support for row in table] == [3, 2, 1, 0]
    assert [row.predicted for row in table] == [2, 2, 2, 0]


def test_precision_is_of_the_predicted_and_recall_of_the_labelled() -> None:
    assert class_table(np.array([1, 1, 1, 0]), np.array([1, 0, 0, 0]), 2)[1] == ClassScores(
        precision=pytest.approx(100 / 3), recall=100.0, f1=50.0, support=1, predicted=3
    )


@pytest.mark.field_case(55)
def test_rows_without_label_are_left_out_of_the_table() -> None:
    assert class_table(np.array([0, 1]), np.array([0, -1]), 2)[1].predicted == 0
