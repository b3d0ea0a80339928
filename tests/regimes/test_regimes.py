"""Plans: what each regime trains, and when."""

import pytest

from exitwise.objectives import CrossLayerContrast, Objective, SoftTargets
from exitwise.regimes import (
    AlternatingRegime,
    ExitsRegime,
    JointRegime,
    Regime,
    SingleExitRegime,
    Stage,
    TwoStageRegime,
)

ALL = tuple(range(1, 5))


@pytest.mark.parametrize("key", Regime.registry)
def test_every_regime_plans_with_its_defaults_in_the_papers_numbers(key: str) -> None:
    stages = Regime.registry[key]().stages(4)
    assert stages
    for stage in stages:
        assert (stage.epochs, stage.learning_rate, stage.exit_learning_rate) == (15, 2e-5, 2e-5)
        assert set(stage.layers) <= set(ALL)


@pytest.mark.parametrize("key", Regime.registry)
def test_the_names_of_a_plans_stages_differ(key: str) -> None:
    names = [stage.name for stage in Regime.registry[key]().stages(4)]
    assert len(set(names)) == len(names)


def test_a_single_exit_is_the_last_one_with_the_whole_encoder() -> None:
    (stage,) = SingleExitRegime().stages(4)
    assert stage.layers == (4,)
    assert not stage.freeze_encoder
    assert stage.objective == Objective.acl()


def test_two_stages_are_the_backbone_and_then_the_exits_below_it() -> None:
    backbone, exits = TwoStageRegime().stages(4)
    assert (backbone,) == SingleExitRegime().stages(4)
    assert exits.layers == (1, 2, 3)
    assert exits.freeze_encoder
    assert exits.teacher == 4
    assert exits.objective.soft_targets == SoftTargets(weight=1.0, temperature=1.0)
    assert exits.objective.auxiliary == CrossLayerContrast()


def test_exits_of_a_single_layer_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 2 layers, found 1"):
        ExitsRegime().stages(1)


def test_joint_training_weighs_exits_equally_or_by_depth() -> None:
    (equal,) = JointRegime().stages(4)
    (depth,) = JointRegime(weights="depth").stages(4)
    assert [equal.weight_of(layer) for layer in ALL] == [1, 1, 1, 1]
    assert [depth.weight_of(layer) for layer in ALL] == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert equal.layers_at(epoch=3, step=7) == ALL


@pytest.mark.parametrize("unit", ["epoch", "step"])
def test_alternating_starts_with_the_last_exit(unit: str) -> None:
    (stage,) = AlternatingRegime(unit=unit).stages(4)
    turns = [
        stage.layers_at(
            epoch=turn if unit == "epoch" else 0, step=turn if unit == "step" else 5 * turn
        )
        for turn in range(4)
    ]
    assert turns == [(4,), ALL, (4,), ALL]


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


@pytest.mark.parametrize("name", ["learning_rate", "exit_learning_rate"])
def test_rates_are_positive(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be positive, found 0"):
        SingleExitRegime(**{name: 0.0})


def test_exits_learn_at_their_own_rate_if_they_have_one() -> None:
    (stage,) = SingleExitRegime(learning_rate=5e-5, exit_learning_rate=5e-4).stages(2)
    assert (stage.learning_rate, stage.exit_learning_rate) == (5e-5, 5e-4)
