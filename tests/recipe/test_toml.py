import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exitwise.errors import RecipeError
from exitwise.recipe import dumps_toml, read_toml

text = st.text(st.characters(codec="utf-8"), max_size=8)
scalars = st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | text
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(text, values, max_size=4))
def test_plain_data_survives_being_written(plain: dict[str, object]) -> None:
    assert tomllib.loads(dumps_toml(plain)) == plain


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text('encoder = "é"\n[exit]\nkind = "mha"\n', encoding="utf-8")
    assert read_toml(path) == {"encoder": "é", "exit": {"kind": "mha"}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"seed = 1\nseed =\n", r"recipe.toml: .*line 2"),
        (b'name = "\xff"', "recipe.toml: not UTF-8 text at byte 8"),
        (None, "recipe.toml: No such file or directory"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    path = tmp_path / "recipe.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(RecipeError, match=message):
        read_toml(path)
