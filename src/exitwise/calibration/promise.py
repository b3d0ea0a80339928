"""A promise that holds for texts to come: learn, then test.

Angelopoulos et al. 2021, https://arxiv.org/abs/2110.01052, with fixed-sequence testing.
"""

import math

import numpy as np
from jaxtyping import Bool
from numpy import ndarray
from scipy.stats import binom


def p_value(num_broken: int, num_rows: int, alpha: float) -> float:
    r"""$P(\mathrm{Bin}(n, \alpha) \le k)$: how likely so few bad rows are at a risk of alpha."""
    return float(binom.cdf(num_broken, num_rows, alpha))


def fewest_rows(alpha: float, delta: float) -> int:
    r"""$\lceil \ln \delta / \ln(1 - \alpha) \rceil$: with fewer rows nothing can be promised.

    >>> fewest_rows(0.01, 0.05), fewest_rows(0.02, 0.05), fewest_rows(0.005, 0.10)
    (299, 149, 460)
    """
    return math.ceil(math.log(delta) / math.log1p(-alpha))


def least_risk(num_rows: int, delta: float) -> float:
    r"""$1 - \delta^{1/n}$: the smallest risk that so many rows can promise."""
    return float(1 - delta ** (1 / num_rows))


def fastest_safe(broken: Bool[ndarray, "f n"], *, alpha: float, delta: float) -> int | None:
    r"""The last policy of a family whose risk is shown to be at most alpha.

    The family goes from safest to fastest. At each member the hypothesis "its risk is above
    $\alpha$" is tested with the exact binomial p-value, until one is not rejected at $\delta$.
    With probability at least $1 - \delta$ over the rows, the risk of the result is at most
    $\alpha$, whatever the texts are like.

    Args:
        broken: for each policy, the rows where the full model is right and the early exit wrong.
        alpha: the risk allowed, a share.
        delta: how likely the promise may fail.

    Returns:
        The member's number; `None` if not even the safest passes.
    """
    num_rows = broken.shape[1]
    passed = [p_value(int(count), num_rows, alpha) <= delta for count in broken.sum(axis=1)]
    first_failure = next((i for i, ok in enumerate(passed) if not ok), len(passed))
    return first_failure - 1 if first_failure else None


def broken_rows(full: ndarray, early: ndarray, labels: ndarray) -> Bool[ndarray, " n"]:
    """Where the full model is right and the early exit is wrong."""
    return np.asarray((full == labels) & (early != labels))
