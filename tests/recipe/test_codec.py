import hashlib
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exitwise.errors import RecipeError
from exitwise.exits import EXITS, ExitConfig, LinearExitConfig, MHAExitConfig
from exitwise.recipe import dumps_toml, from_plain, recipe_hash, to_plain
from exitwise.registry import Registry


class Shape(ABC):
    """A family whose members are what is registered."""

    registry: ClassVar[Registry["Shape"]] = Registry("shape", suffix="Shape")

    @abstractmethod
    def area(self) -> float: ...


@Shape.registry.register
@dataclass(frozen=True, kw_only=True)
class RoundShape(Shape):
    radius: float = 1.0
    name: str | None = "circle"

    def __post_init__(self) -> None:
        if self.radius <= 0:
            raise ValueError(f"radius must be positive, found {self.radius}")

    def area(self) -> float:
        return 3 * self.radius**2


@Shape.registry.register
@dataclass(frozen=True, kw_only=True)
class BoxShape(Shape):
    sides: tuple[int, int] = (1, 1)
    inner: RoundShape = RoundShape(radius=0.5, name=None)

    def area(self) -> float:
        return self.sides[0] * self.sides[1]


@dataclass(frozen=True, kw_only=True)
class Numbers:
    whole: int = 3
    real: float = 0.5
    flag: bool = False
    text: str = ""
    maybe: int | None = None
    either: float | Literal["auto"] = "auto"
    unit: Literal["epoch", "step"] = "epoch"
    layers: tuple[int, ...] = ()
    nested: tuple[tuple[int, ...], ...] = ((1,), (1, 2))


NARROW_EXIT = MHAExitConfig(width=32)


@dataclass(frozen=True, kw_only=True)
class Tree:
    title: str
    numbers: Numbers = field(default_factory=Numbers)
    shape: Shape = BoxShape(sides=(2, 3))
    other: Shape | None = None
    shapes: tuple[Shape, ...] = ()
    exit: ExitConfig = NARROW_EXIT


text = st.text(st.characters(codec="utf-8"), max_size=8).filter(lambda value: value != "none")
real = st.floats(allow_nan=False).map(lambda value: value + 0.0)  # -0.0 equals 0.0
whole = st.integers(-(2**63), 2**63 - 1)
numbers = st.builds(
    Numbers,
    whole=whole,
    real=real,
    flag=st.booleans(),
    text=st.text(st.characters(codec="utf-8"), max_size=8),
    maybe=st.none() | whole,
    either=st.just("auto") | real,
    unit=st.sampled_from(["epoch", "step"]),
    layers=st.lists(whole, max_size=3).map(tuple),
    nested=st.lists(st.lists(whole, max_size=2).map(tuple), max_size=2).map(tuple),
)
circles = st.builds(RoundShape, radius=st.floats(0.1, 9), name=st.none() | text)
shapes = circles | st.builds(BoxShape, sides=st.tuples(whole, whole), inner=circles)
trees = st.builds(
    Tree,
    title=text,
    numbers=numbers,
    shape=shapes,
    other=st.none() | shapes,
    shapes=st.lists(shapes, max_size=2).map(tuple),
    exit=st.sampled_from([MHAExitConfig(), MHAExitConfig(width=8), LinearExitConfig(bias=True)]),
)


@given(trees)
def test_a_tree_written_as_toml_reads_back_equal(tree: Tree) -> None:
    read = from_plain(Tree, tomllib.loads(dumps_toml(to_plain(tree))))
    assert read == tree
    assert recipe_hash(read) == recipe_hash(tree)


@given(trees, trees)
def test_hashes_are_equal_exactly_where_trees_are(one: Tree, other: Tree) -> None:
    assert (recipe_hash(one) == recipe_hash(other)) == (one == other)


def test_all_defaults_are_written_and_members_name_their_kind() -> None:
    assert to_plain(Tree(title="a")) == {
        "title": "a",
        "numbers": {
            "whole": 3,
            "real": 0.5,
            "flag": False,
            "text": "",
            "either": "auto",
            "unit": "epoch",
            "layers": [],
            "nested": [[1], [1, 2]],
        },
        "shape": {
            "kind": "box",
            "sides": [2, 3],
            "inner": {"kind": "round", "radius": 0.5},
        },
        "shapes": [],
        "exit": {
            "kind": "mha",
            "dropout": 0.1,
            "bias": False,
            "embedding": "before_dropout",
            "width": 32,
            "num_heads": 2,
        },
    }


def test_none_is_written_where_the_default_is_something() -> None:
    plain = to_plain(RoundShape(name=None))
    assert plain["name"] == "none"
    assert from_plain(RoundShape, plain).name is None


def test_what_is_not_given_keeps_the_value_of_the_trees_default() -> None:
    tree = from_plain(Tree, {"title": "a", "shape": {"inner": {"radius": 2}}})
    assert tree.shape == BoxShape(sides=(2, 3), inner=RoundShape(radius=2.0, name=None))


def test_another_kind_starts_from_its_own_defaults() -> None:
    tree = from_plain(Tree, {"title": "a", "shape": {"kind": "round"}, "exit": {"kind": "linear"}})
    assert tree.shape == RoundShape()
    assert tree.exit == LinearExitConfig()


def test_the_same_kind_named_again_changes_nothing() -> None:
    assert from_plain(Tree, {"title": "a", "exit": {"kind": "mha"}}) == Tree(title="a")


def test_a_kind_alone_stands_for_a_table() -> None:
    tree = from_plain(Tree, {"title": "a", "exit": "linear", "other": "round"})
    assert (tree.exit, tree.other) == (LinearExitConfig(), RoundShape())


@pytest.mark.parametrize("kind", EXITS)
def test_every_exits_settings_read_back_equal(kind: str) -> None:
    config = EXITS[kind].config_class(dropout=0.3)
    assert from_plain(ExitConfig, to_plain(config)) == config


def test_a_whole_number_does_for_a_real_one() -> None:
    real = from_plain(Numbers, {"real": 2}).real
    assert isinstance(real, float)
    assert real == 2


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"numbers": {"whole": 1.0}}, "numbers.whole must be a whole number, found 1.0"),
        ({"numbers": {"whole": True}}, "numbers.whole must be a whole number, found True"),
        ({"numbers": {"real": True}}, "numbers.real must be a number, found True"),
        ({"numbers": {"real": "0.5"}}, "numbers.real must be a number, found '0.5'"),
        ({"numbers": {"flag": 1}}, "numbers.flag must be true or false, found 1"),
        ({"numbers": {"text": 1}}, "numbers.text must be a text, found 1"),
        ({"numbers": {"maybe": "x"}}, "numbers.maybe must be a whole number, found 'x'"),
        (
            {"numbers": {"either": "always"}},
            "numbers.either must be a number, found 'always'; "
            "numbers.either must be 'auto', found 'always'",
        ),
        (
            {"numbers": {"unit": "steps"}},
            "numbers.unit must be 'epoch' or 'step', found 'steps', did you mean 'step'?",
        ),
        ({"numbers": {"layers": 1}}, "numbers.layers must be an array, found 1"),
        ({"numbers": {"layers": [1, "2"]}}, "numbers.layers[1] must be a whole number, found '2'"),
        ({"shape": {"sides": [1]}}, "shape.sides must be an array of 2, found [1]"),
        ({"numbers": 3}, "numbers must be a table, found 3"),
        ({"numbers": "none"}, "numbers must be a table, found 'none'"),
        (
            {"shape": {"inner": {"radios": 1}}},
            "unknown key shape.inner.radios, did you mean 'radius'? "
            "Known in shape.inner: radius, name",
        ),
        ({"colour": 1}, "unknown key colour. Known in a recipe: title, "),
        ({"numbers": {"kind": 1}}, "unknown key numbers.kind. Known in numbers: whole, "),
        (
            {"shape": {"kind": "boxes"}},
            "shape.kind must be 'round' or 'box', found 'boxes', did you mean 'box'?",
        ),
        ({"shape": {"kind": 2}}, "shape.kind must be 'round' or 'box', found 2"),
        ({"other": {"radius": 1.0}}, "other.kind is missing, one of round, box"),
        ({"shape": {"inner": {"kind": "box"}}}, "shape.inner.kind must be 'round', found 'box'"),
        ({"shape": {"inner": {"radius": -1}}}, "shape.inner: radius must be positive, found -1.0"),
        ({"exit": {"width": 3}}, "exit: width must be a multiple of num_heads, found 3 and 2"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_path(table: dict[str, object], message: str) -> None:
    with pytest.raises(RecipeError) as error:
        from_plain(Tree, {"title": "a", **table})
    assert str(error.value).startswith(message)


def test_paths_continue_that_of_the_caller() -> None:
    with pytest.raises(RecipeError, match=r"^table\.row\.unit must be"):
        from_plain(Numbers, {"unit": 1}, "table.row")


def test_a_key_without_default_must_be_given() -> None:
    with pytest.raises(RecipeError, match=r"^title is missing$"):
        from_plain(Tree, {})


def test_a_refusal_by_the_recipe_itself_needs_no_path() -> None:
    with pytest.raises(RecipeError, match=r"^radius must be positive, found -1\.0$"):
        from_plain(RoundShape, {"radius": -1.0})


def test_a_field_that_toml_cannot_hold_is_refused_unless_it_is_nothing() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Filtered:
        only: Callable[[str], bool] | None = None

    assert to_plain(Filtered()) == {}
    assert from_plain(Filtered, {}) == Filtered()
    with pytest.raises(RecipeError, match="only cannot be written in a recipe, found <"):
        to_plain(Filtered(only=str.isupper))
    with pytest.raises(RecipeError, match="only cannot be set in a recipe"):
        from_plain(Filtered, {"only": "str.isupper"})


def test_the_text_none_is_refused_where_it_would_read_as_nothing() -> None:
    assert to_plain(Numbers(text="none"))["text"] == "none"
    with pytest.raises(RecipeError, match="name cannot be the text 'none'"):
        to_plain(RoundShape(name="none"))


def test_the_hash_does_not_depend_on_how_a_number_is_written() -> None:
    given_as_text = from_plain(Numbers, {"real": 2})
    assert recipe_hash(given_as_text) == recipe_hash(Numbers(real=2.0))


def test_the_hash_is_that_of_the_sorted_compact_json() -> None:
    canonical = '{"inner":{"kind":"round","name":"b","radius":2.0},"kind":"box","sides":[1,4]}'
    box = BoxShape(sides=(1, 4), inner=RoundShape(radius=2.0, name="b"))
    assert recipe_hash(box) == hashlib.sha256(canonical.encode()).hexdigest()[:12]


def test_an_option_that_is_off_by_default_gives_old_recipes_no_new_hash() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Before:
        seed: int = 1

    @dataclass(frozen=True, kw_only=True)
    class After:
        seed: int = 1
        extra: float | None = None

    assert recipe_hash(Before()) == recipe_hash(After())
    assert recipe_hash(After()) != recipe_hash(After(extra=1.0))
