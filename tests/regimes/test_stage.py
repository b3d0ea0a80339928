"""Stages: what cannot be one."""

import pytest

from exitwise.objectives import Objective
from exitwise.regimes import Stage


def test_a_stage_whose_objective_needs_a_teacher_names_one() -> None:
    with pytest.raises(ValueError, match="needs a teacher, found none"):
        Stage(
            name="exits",
            epochs=1,
            schedule=((1,),),
            objective=Objective.acl_cl(),
            learning_rate=1e-3,
            exit_learning_rate=1e-3,
        )
