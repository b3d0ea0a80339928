"""The last exit with the whole encoder."""

from exitwise.objectives import Objective
from exitwise.regimes import SingleExitRegime


def test_a_single_exit_is_the_last_one_with_the_whole_encoder() -> None:
    (stage,) = SingleExitRegime().stages(4)
    assert stage.layers == (4,)
    assert not stage.freeze_encoder
    assert stage.objective == Objective.acl()


def test_exits_learn_at_their_own_rate_if_they_have_one() -> None:
    (stage,) = SingleExitRegime(learning_rate=5e-5, exit_learning_rate=5e-4).stages(2)
    assert (stage.learning_rate, stage.exit_learning_rate) == (5e-5, 5e-4)
