"""Stages: what cannot be one."""

from dataclasses import replace

import pytest

from exitwise.gradients import GradientGate
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


@pytest.mark.parametrize(
    ("gate", "message"),
    [
        (GradientGate(parameters="encoder"), "compares a frozen encoder"),
        (GradientGate(shortcut="representation"), "neither a shortcut nor an interval"),
        (GradientGate(interval=2), "neither a shortcut nor an interval"),
    ],
)
def test_a_gate_that_a_frozen_encoder_makes_senseless_is_refused(
    gate: GradientGate, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Stage(
            name="exits",
            epochs=1,
            schedule=((1,),),
            freeze_encoder=True,
            objective=replace(Objective.acl(), gate=gate),
            learning_rate=1e-3,
            exit_learning_rate=1e-3,
        )
