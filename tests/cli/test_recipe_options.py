from pathlib import Path

import pytest

from exitwise.cli.recipe_options import KEYS, chosen_recipe
from exitwise.errors import RecipeError
from exitwise.recipe import to_plain


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "recipe.toml"
    path.write_text('encoder = "from-file"\nseed = 7\n[data]\ntrain = "from-file.csv"\n')
    return path


def test_a_flag_changes_the_file_and_an_override_changes_both(file: Path) -> None:
    recipe = chosen_recipe(file, ["data.test=override.csv"], train=Path("flag.csv"), test=None)
    assert (recipe.encoder, recipe.seed) == ("from-file", 7)
    assert (recipe.data.train, recipe.data.test) == ("flag.csv", "override.csv")


def test_every_flag_arrives_at_its_key() -> None:
    values = {"text_column": "1", "pair_column": "none of these", "label_column": 'a"b', "seed": 5}
    sources = {"train": Path("a b.csv"), "validation": Path("v.csv"), "test": Path("t.csv")}
    own = chosen_recipe(None, None, encoder="e", regime="joint", **values, **sources)
    glue = chosen_recipe(None, None, start_from="s", task="rte", data_dir=Path("d"))
    plain = flat(to_plain(own)) | flat(to_plain(glue))
    given = {**values, **sources, "encoder": "e", "start_from": "s", "task": "rte", "data_dir": "d"}
    assert given.keys() | {"regime"} == KEYS.keys()
    expected = {name: value if name == "seed" else str(value) for name, value in given.items()}
    plain["seed"] = own.seed
    assert {name: plain[KEYS[name]] for name in given} == expected
    assert type(own.regime).__name__ == "JointRegime"


def flat(table: dict[str, object], path: str = "") -> dict[str, object]:
    items: dict[str, object] = {}
    for key, value in table.items():
        items |= flat(value, f"{path}{key}.") if isinstance(value, dict) else {path + key: value}
    return items


def test_without_data_the_error_says_what_may_be_given() -> None:
    with pytest.raises(RecipeError, match="a task, a train file or a hub data set, found none"):
        chosen_recipe(None, None, encoder="e")


def test_an_unknown_key_is_named(file: Path) -> None:
    with pytest.raises(RecipeError, match="sead"):
        chosen_recipe(file, ["sead=3"])
