"""JT."""

import pytest

from exitwise.regimes import JointRegime

ALL = tuple(range(1, 5))


def test_joint_training_weighs_exits_equally_or_by_depth() -> None:
    (equal,) = JointRegime().stages(4)
    (depth,) = JointRegime(weights="depth").stages(4)
    assert [equal.weight_of(layer) for layer in ALL] == [1, 1, 1, 1]
    assert [depth.weight_of(layer) for layer in ALL] == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert equal.layers_at(epoch=3, step=7) == ALL
