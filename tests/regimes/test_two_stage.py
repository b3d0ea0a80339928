"""2ST."""

from exitwise.objectives import CrossLayerContrast, SoftTargets
from exitwise.regimes import SingleExitRegime, TwoStageRegime


def test_two_stages_are_the_backbone_and_then_the_exits_below_it() -> None:
    backbone, exits = TwoStageRegime().stages(4)
    assert (backbone,) == SingleExitRegime().stages(4)
    assert exits.layers == (1, 2, 3)
    assert exits.freeze_encoder
    assert exits.teacher == 4
    assert exits.objective.soft_targets == SoftTargets(weight=1.0, temperature=1.0)
    assert exits.objective.auxiliary == CrossLayerContrast()
