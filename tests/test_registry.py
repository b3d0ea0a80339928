import pytest

from exitwise.registry import Registry


class MHAExit: ...


class TwoStageExit: ...


@pytest.fixture
def registry() -> Registry[object]:
    family: Registry[object] = Registry("exit", suffix="Exit")
    for member in (MHAExit, TwoStageExit):
        family.register(member)
    return family


def test_keys_are_class_names_without_suffix_in_snake_case(registry: Registry[object]) -> None:
    assert dict(registry) == {"mha": MHAExit, "two_stage": TwoStageExit}


def test_an_unknown_key_names_the_nearest_and_all_known(registry: Registry[object]) -> None:
    with pytest.raises(ValueError, match=r"unknown exit 'mah', did you mean 'mha'.*mha, two_stage"):
        registry["mah"]


def test_membership_asks_without_raising(registry: Registry[object]) -> None:
    assert "mha" in registry
    assert "nothing" not in registry
