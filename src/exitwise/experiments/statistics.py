"""How sure differences between systems are, with few seeds and few examples.

Two systems are compared by the differences of their scores with equal seeds. With 3 to 5 of them
the paired t-test decides: the exact test by flipping signs cannot be significant at all (its least
p is $2 / 2^n$: 0.25 with 3 seeds, 0.0625 with 5) and stands beside it as a warning.
"""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray
from scipy import optimize, stats

LEVEL = 0.05
POWER = 0.8
RESAMPLES = 2000
Interval = tuple[float, float]


class Summary(NamedTuple):
    """Scores of one system over seeds.

    Attributes:
        mean: of the scores.
        deviation: the standard deviation of a sample; `None` of a single score.
        num_seeds: the number of seeds.
        interval: of the mean, 95 %, by Student's t; `None` of a single score.
    """

    mean: float
    deviation: float | None
    num_seeds: int
    interval: Interval | None


class Comparison(NamedTuple):
    """Whether the mean of some differences is zero.

    Attributes:
        label: what is compared.
        difference: their mean.
        num_seeds: the number of seeds.
        interval: of the mean, 95 %, by Student's t.
        p: two-sided, of the t-test.
        exact_p: two-sided, by all ways to flip signs.
        visible: the smallest difference that so many seeds of this deviation would have shown.
        adjusted: p after Holm's correction over the comparisons of a table.
    """

    label: str
    difference: float
    num_seeds: int
    interval: Interval | None
    p: float
    exact_p: float
    visible: float | None
    adjusted: float = float("nan")


def summary(values: Sequence[float]) -> Summary:
    """Mean and spread over seeds.

    >>> summary([79.0, 81.0]).mean, summary([80.0]).deviation
    (80.0, None)
    """
    mean = float(np.mean(values))
    if len(values) < 2:
        return Summary(mean, None, len(values), None)
    return Summary(mean, float(np.std(values, ddof=1)), len(values), t_interval(values))


def t_interval(values: Sequence[float]) -> Interval:
    """The 95 % interval of the mean by Student's t; of equal values it is that value."""
    mean, error = float(np.mean(values)), float(stats.sem(values))
    if error == 0:
        return mean, mean
    low, high = stats.t.interval(1 - LEVEL, len(values) - 1, loc=mean, scale=error)
    return float(low), float(high)


def bootstrap_interval(values: Sequence[float], *, seed: int = 0) -> Interval:
    """The 95 % interval of the mean over seeds by resampling them (percentiles).

    With 3 to 5 seeds it is too narrow: the t interval is the honest one, this is for comparison.
    """
    if len(set(values)) == 1:
        return values[0], values[0]
    found = stats.bootstrap(
        (np.asarray(values),),
        np.mean,
        n_resamples=RESAMPLES,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return float(found.low), float(found.high)


def resampled_rows(
    num_examples: int, *, seed: int = 0, resamples: int = RESAMPLES
) -> Int[ndarray, "r n"]:
    """Numbers of examples, drawn with replacement: each time as many as there are.

    What is drawn depends on nothing else. So the difference of two systems' scores, draw by draw,
    is the paired one: both answer the same examples.

    Args:
        num_examples: n.
        seed: of the drawing.
        resamples: r, how often.
    """
    return np.random.default_rng(seed).integers(num_examples, size=(resamples, num_examples))


def percentile_interval(values: Float[ndarray, " r"]) -> Interval:
    """The middle 95 % of resampled scores, or of their differences."""
    low, high = np.percentile(values, [100 * LEVEL / 2, 100 * (1 - LEVEL / 2)])
    return float(low), float(high)


def paired_test(label: str, differences: Sequence[float]) -> Comparison:
    """The test of one comparison; fewer than two seeds show nothing, so that p is 1.

    Differences that are all equal and not zero have no spread to judge them by: then the exact
    test decides, and says 1 / 2 for two seeds.

    >>> test = paired_test("a > b", [1.0, 2.0, 3.0])
    >>> round(test.p, 4), test.exact_p
    (0.0742, 0.25)
    """
    values = np.asarray(differences, dtype=float)
    values = values[np.isfinite(values)]
    if len(values) < 2:
        mean = float(values.mean()) if len(values) else float("nan")
        return Comparison(label, mean, len(values), None, 1.0, 1.0, None)
    exact = sign_flip_p(values)
    deviation = float(values.std(ddof=1))
    has_spread = deviation > 1e-12
    p = float(stats.ttest_1samp(values, 0.0).pvalue) if has_spread else exact
    return Comparison(
        label,
        float(values.mean()),
        len(values),
        t_interval(list(values)),
        p,
        exact,
        smallest_visible(deviation, len(values)),
    )


def sign_flip_p(differences: Float[ndarray, " n"]) -> float:
    """The share of all sign patterns whose mean is as far from zero as the one found."""
    signs = np.array(list(product((1.0, -1.0), repeat=len(differences))))
    means = np.abs((signs * differences).mean(axis=1))
    return float((means >= abs(differences.mean()) - 1e-12).mean())


def smallest_visible(deviation: float, count: int) -> float:
    r"""The true difference that the paired t-test finds in four of five experiments.

    The $\delta$ with $P(|T| > t_{0.975, n-1}) = 0.8$, T noncentral with
    $\delta \sqrt{n} / \sigma$ (Cohen 1988, chapter 2).

    Args:
        deviation: of the differences, $\sigma$.
        count: n seeds.
    """
    if deviation == 0:
        return 0.0
    freedom = count - 1
    critical = stats.t.ppf(1 - LEVEL / 2, freedom)

    def missing(shift: float) -> float:
        """The other tail is left out: at a power of 0.8 it holds nothing, and scipy cannot tell."""
        return float(stats.nct.sf(critical, freedom, shift) - POWER)

    shift = optimize.brentq(missing, 0.0, 10.0 * critical)
    return float(shift * deviation / np.sqrt(count))


def holm(p_values: Sequence[float]) -> list[float]:
    r"""P-values that may be read together (Holm 1979): $\max_{j \le i} (m - j + 1)\,p_{(j)}$.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [0.0] * len(p_values)
    reached = 0.0
    for rank, index in enumerate(order):
        reached = max(reached, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = reached
    return adjusted


def read_together(tests: Sequence[Comparison]) -> list[Comparison]:
    """The tests of a table with their adjusted p; those of fewer than two seeds are none."""
    adjusted = iter(holm([test.p for test in tests if test.num_seeds > 1]))
    return [test._replace(adjusted=next(adjusted) if test.num_seeds > 1 else 1.0) for test in tests]
