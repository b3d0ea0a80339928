"""Tests of exitwise.bounds."""

import math
from types import SimpleNamespace

import pytest

from exitwise.bounds import check_at_least, check_positive


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan])
def test_what_is_not_positive_is_refused_by_name(value: float) -> None:
    settings = SimpleNamespace(good=1.0, rate=value)
    with pytest.raises(ValueError, match=rf"^rate must be positive, found {value}$"):
        check_positive(settings, "good", "rate")


@pytest.mark.parametrize("value", [1, -5, math.nan])
def test_what_is_below_the_least_is_refused_by_name(value: float) -> None:
    settings = SimpleNamespace(good=2, count=value)
    with pytest.raises(ValueError, match=rf"^count must be at least 2, found {value}$"):
        check_at_least(2, settings, "good", "count")


def test_what_is_not_given_is_not_refused() -> None:
    settings = SimpleNamespace(rate=None)
    check_positive(settings, "rate")
    check_at_least(1, settings, "rate")
