import pytest

from exitwise.cli.stage_words import describe
from exitwise.objectives import Objective
from exitwise.regimes import Regime, SingleExitRegime


@pytest.mark.parametrize("kind", list(Regime.registry))
def test_every_stage_of_every_regime_can_be_told(kind: str) -> None:
    stages = Regime.registry[kind]().stages(4)
    assert len(stages) > 0
    for stage in stages:
        words = describe(stage)
        assert all(words.values())
        assert set("".join(words["exits"])) & set(map(str, stage.layers))
        assert ("teacher" in words) == stage.objective.needs_teacher


def words_of(objective: Objective) -> dict[str, str]:
    (stage,) = SingleExitRegime(objective=objective).stages(2)
    return describe(stage)


def test_cross_entropy_has_neither_weights_nor_a_gate() -> None:
    words = words_of(Objective.cross_entropy())
    assert words["loss of an exit"] == "cross-entropy"
    assert "gate" not in words


def test_contrast_without_a_gate_says_so() -> None:
    assert words_of(Objective.scl())["gate"] == "none"
    assert "90°" in words_of(Objective.acl())["gate"]
