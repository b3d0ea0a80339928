"""Whether probabilities can be believed."""

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from exitwise.metrics.counts import UNLABELLED, num_labelled


def expected_calibration_error(
    probabilities: Float[ndarray, "n k"], labels: Int[ndarray, " n"], *, num_bins: int = 15
) -> float:
    r"""How far confidence is from accuracy, a share from 0 to 1.

    $$\sum_b \frac{|B_b|}{n} \, |\mathrm{acc}(B_b) - \mathrm{conf}(B_b)|$$

    The bins $B_b$ are of equal width, $((b-1)/B, b/B]$, and confidence is the largest
    probability (Guo et al. 2017, https://arxiv.org/abs/1706.04599). Rows without label are left
    out; of no row the error is undefined.

    >>> expected_calibration_error(np.array([[0.9, 0.1], [0.9, 0.1]]), np.array([0, 1]))
    0.4
    """
    if not num_labelled(labels):
        raise ValueError("the calibration error needs a labelled row, found none")
    labelled = labels != UNLABELLED
    confidence = probabilities.max(axis=-1)[labelled].astype(np.float64)
    correct = (probabilities.argmax(axis=-1) == labels)[labelled]
    bins = (np.ceil(confidence * num_bins) - 1).clip(0, num_bins - 1).astype(np.int64)
    gaps = np.bincount(bins, weights=correct - confidence, minlength=num_bins)
    return float(np.abs(gaps).sum() / labelled.sum())
