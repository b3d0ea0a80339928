import numpy as np
import pytest

from exitwise.metrics import expected_calibration_error


def two_classes(confidence: list[float]) -> np.ndarray:
    return np.stack([np.array(confidence), 1 - np.array(confidence)], axis=1)


def test_the_error_is_the_gap_of_each_bin_weighted_by_its_rows() -> None:
    probabilities = two_classes([0.95, 0.95, 0.75, 0.75])
    labels = np.array([0, 0, 0, 1])  # accuracy 1 at 0.95, 0.5 at 0.75
    error = expected_calibration_error(probabilities, labels)
    assert error == pytest.approx((0.05 + 0.25) / 2)


def test_gaps_of_one_bin_cancel_and_gaps_of_two_do_not() -> None:
    probabilities, labels = two_classes([0.6, 0.9]), np.array([0, 1])  # gaps 0.4 and -0.9
    assert expected_calibration_error(probabilities, labels, num_bins=1) == pytest.approx(0.25)
    assert expected_calibration_error(probabilities, labels, num_bins=10) == pytest.approx(0.65)


def test_a_confidence_on_the_edge_belongs_to_the_lower_bin() -> None:
    probabilities, labels = two_classes([0.5, 0.51]), np.array([0, 1])  # gaps 0.5 and -0.51
    assert expected_calibration_error(probabilities, labels, num_bins=2) == pytest.approx(0.505)


def test_certain_and_right_is_calibrated() -> None:
    assert expected_calibration_error(np.eye(3, dtype=np.float32), np.arange(3)) == 0.0


@pytest.mark.field_case(55)
def test_rows_without_label_are_left_out() -> None:
    probabilities = two_classes([0.75, 1.0])
    assert expected_calibration_error(probabilities, np.array([0, -1])) == pytest.approx(0.25)
    with pytest.raises(ValueError, match="needs a labelled row"):
        expected_calibration_error(probabilities, np.array([-1, -1]))
