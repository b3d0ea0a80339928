"""What every regime keeps to."""

import pytest

from exitwise.regimes import Regime, SingleExitRegime

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


@pytest.mark.parametrize("name", ["learning_rate", "exit_learning_rate"])
def test_rates_are_positive(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be positive, found 0"):
        SingleExitRegime(**{name: 0.0})
