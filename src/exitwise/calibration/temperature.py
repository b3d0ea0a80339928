"""A temperature for each exit, so that its probabilities can be believed."""

import math

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray
from scipy.optimize import minimize_scalar

from exitwise.errors import ExitwiseError

LOWEST, HIGHEST = 0.05, 20.0


def fit_temperature(logits: Float[ndarray, "n k"], labels: Int[ndarray, " n"]) -> float:
    r"""The $T$ that makes the labels likeliest under $\mathrm{softmax}(z / T)$.

    $$\hat T = \arg\min_T -\frac{1}{n} \sum_i \log \mathrm{softmax}(z_i / T)_{y_i}$$

    Guo et al. 2017, https://arxiv.org/abs/1706.04599. T is from 0.05 to 20; no answer changes.
    """
    if not len(labels):
        raise ExitwiseError("a temperature needs labelled rows, found none")
    exact = logits.astype(np.float64)

    def loss(log_temperature: float) -> float:
        scaled = exact / math.exp(log_temperature)
        shifted = scaled - scaled.max(axis=-1, keepdims=True)
        right = np.take_along_axis(shifted, labels[:, None], axis=-1)[:, 0]
        return float((np.log(np.exp(shifted).sum(axis=-1)) - right).mean())

    bounds = math.log(LOWEST), math.log(HIGHEST)
    found = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-6})
    return math.exp(float(found.x))
