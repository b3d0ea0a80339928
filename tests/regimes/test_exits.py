"""Exits on a frozen encoder."""

import pytest

from exitwise.regimes import ExitsRegime


def test_exits_of_a_single_layer_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 2 layers, found 1"):
        ExitsRegime().stages(1)
