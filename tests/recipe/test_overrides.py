import pytest

from exitwise.errors import RecipeError
from exitwise.recipe import apply_overrides


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("2e-5", 2e-5),
        ("true", True),
        ("[1, 2]", [1, 2]),
        ('"3"', "3"),
        ("bert-base-uncased", "bert-base-uncased"),
        ("org/name=v2", "org/name=v2"),
        ("True", "True"),
        ("", ""),
        (" none ", "none"),
        ("2026-01-01", "2026-01-01"),
        ('{kind = "joint", epochs = 3}', {"kind": "joint", "epochs": 3}),
    ],
)
def test_values_are_toml_where_they_can_be_and_text_elsewhere(text: str, value: object) -> None:
    changed = apply_overrides({}, [f"key={text}"])
    assert changed == {"key": value}
    assert type(changed["key"]) is type(value)


def test_a_dotted_key_changes_one_value_and_makes_its_tables() -> None:
    plain = {"regime": {"kind": "joint", "epochs": 3}}
    assert apply_overrides(plain, ["regime.epochs=5", "exit.attention.width=8"]) == {
        "regime": {"kind": "joint", "epochs": 5},
        "exit": {"attention": {"width": 8}},
    }


def test_the_data_given_is_left_as_it_was() -> None:
    plain = {"regime": {"epochs": 3}}
    apply_overrides(plain, ["regime.epochs=5"])
    assert plain == {"regime": {"epochs": 3}}


def test_the_last_of_several_overrides_holds() -> None:
    assert apply_overrides({}, ["seed=1", "seed=2"]) == {"seed": 2}


def test_a_kind_replaces_the_table_and_can_be_refined() -> None:
    plain = {"regime": {"kind": "two_stage", "backbone": {"epochs": 3}}}
    assert apply_overrides(plain, ["regime=joint", "regime.epochs=2"]) == {
        "regime": {"kind": "joint", "epochs": 2}
    }


@pytest.mark.parametrize("override", ["seed", "=1", "a..b=1", ".a=1"])
def test_an_override_without_key_or_value_is_refused(override: str) -> None:
    with pytest.raises(RecipeError, match="reads key=value, such as seed=1, found"):
        apply_overrides({}, [override])


def test_a_key_below_a_value_is_refused() -> None:
    with pytest.raises(
        RecipeError, match=r"cannot set training\.seed\.x: training\.seed is no table"
    ):
        apply_overrides({"training": {"seed": 3}}, ["training.seed.x=1"])
