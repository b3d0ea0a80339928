import logging
from collections.abc import Callable, Sequence

import pytest

from exitwise.data.labels import LabelColumn, label_value, name_classes, name_numbers, number_labels
from exitwise.data.tables import Table
from exitwise.errors import DataError


def column(*values: str | None) -> LabelColumn:
    return LabelColumn(values, lambda row: f"row {row + 1}")


def value_of(table: Table) -> str | None:
    return label_value(table, next(table.records(["label"])), "label")


@pytest.mark.field_case(53)
@pytest.mark.parametrize(
    ("values", "names"),
    [
        (["pos", "neg", "pos"], ("neg", "pos")),
        (["10", "9", "-2"], ("-2", "9", "10")),
        (["10", "9", "b"], ("10", "9", "b")),
        (["Neg", "neg"], ("Neg", "neg")),
        (["1.5", "1", "unsure"], ("1", "1.5", "unsure")),
    ],
)
def test_classes_are_sorted_whatever_the_order_of_rows(
    values: Sequence[str], names: tuple[str, ...]
) -> None:
    assert name_classes(column(*values)) == names
    assert name_classes(column(*reversed(values))) == names


def test_classes_keep_the_order_that_a_source_gives() -> None:
    labels = column("low", "high", "new", "low")
    assert name_classes(labels, order=("high", "middle", "low")) == ("high", "low", "new")


@pytest.mark.field_case(53)
def test_labels_become_their_places_among_the_names() -> None:
    assert number_labels(column("pos", "neg", "pos"), ("neg", "pos")) == (1, 0, 1)
    assert number_labels(column("2", "1"), ("1", "2")) == (1, 0)


@pytest.mark.field_case(55)
def test_a_row_without_label_is_minus_one() -> None:
    assert number_labels(column(None, "pos", None), ("neg", "pos")) == (-1, 1, -1)
    assert number_labels(column(None, None), ("neg", "pos")) == (-1, -1)


@pytest.mark.field_case(55)
@pytest.mark.parametrize("found", [-1, "-1", "", "  ", None, float("nan")])
def test_minus_one_and_nothing_are_no_labels(
    make_table: Callable[..., Table], found: object
) -> None:
    assert value_of(make_table({"label": [found]})) is None


@pytest.mark.parametrize(
    ("found", "expected"),
    [(1, "1"), (" pos ", "pos"), (True, "true"), (1.0, "1.0"), ("NA", "NA"), ("None", "None")],
)
def test_a_label_is_read_as_text_without_spaces_around(
    make_table: Callable[..., Table], found: object, expected: str
) -> None:
    assert value_of(make_table({"label": [found]})) == expected


def test_numbers_get_the_names_that_a_source_gives(make_table: Callable[..., Table]) -> None:
    names = {"label": ("neg", "pos")}
    assert value_of(make_table({"label": [1]}, names)) == "pos"
    assert value_of(make_table({"label": [-1]}, names)) is None
    assert value_of(make_table({"label": [2]}, names)) == "2"


@pytest.mark.field_case(18)
@pytest.mark.parametrize("found", [[0, 1], ["a"], [], "[0, 1]", " ['a', 'b'] ", {"a": 1}])
def test_several_labels_of_one_row_are_refused(
    make_table: Callable[..., Table], found: object
) -> None:
    with pytest.raises(
        DataError, match=r"a table, row 1, column 'label': .* multi-label classification is not"
    ):
        value_of(make_table({"label": [found]}))


def test_numbers_count_classes_that_are_words(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "exitwise")
    named = name_numbers(column("1", "0", None), ("neg", "pos"))
    assert list(named.values) == ["pos", "neg", None]
    assert "labels are numbers, 0 = neg, 1 = pos" in caplog.text


@pytest.mark.parametrize(
    ("values", "names"),
    [
        (["1", "2"], ("neg", "pos")),
        (["1", "pos"], ("neg", "pos")),
        (["1", "0"], ("0", "1")),
        (["1", "0"], ("1", "2")),
        ([None], ("neg", "pos")),
    ],
)
def test_labels_that_count_no_words_stay_as_they_are(
    values: list[str | None], names: tuple[str, ...]
) -> None:
    labels = column(*values)
    assert name_numbers(labels, names) is labels


def test_numbers_are_names_where_the_names_are_numbers() -> None:
    with pytest.raises(DataError, match="row 1: unknown label '0'; known are 1, 2"):
        number_labels(column("0", "1"), ("1", "2"))


def test_an_unknown_label_is_refused_with_its_place_and_the_known_ones() -> None:
    with pytest.raises(DataError, match="row 2: unknown label 'mixed'; known are neg, pos"):
        number_labels(column("pos", "mixed", "neg"), ("neg", "pos"))


@pytest.mark.field_case(57)
def test_fractions_are_refused_as_regression() -> None:
    with pytest.raises(DataError, match=r"row 2: label 2.5; regression is not supported"):
        name_classes(column("1.0", "2.5", "3"))
    with pytest.raises(DataError, match=r"row 1: label 1e-3; regression is not supported"):
        name_classes(column("1e-3", "2"))


@pytest.mark.field_case(57)
def test_whole_numbers_written_as_floats_get_a_remedy() -> None:
    with pytest.raises(DataError, match=r"row 2: label 1.0; write .* as integers or names, here 1"):
        name_classes(column("0", "1.0"))
    with pytest.raises(DataError, match=r"row 1: label 0.0; write .* as integers or names, here 0"):
        number_labels(column("0.0"), ("0", "1"))


def test_one_class_is_refused() -> None:
    with pytest.raises(DataError, match="all 3 rows have the label 'pos'; training needs two"):
        name_classes(column("pos", "pos", "pos"))


def test_a_label_for_every_row_is_refused() -> None:
    with pytest.raises(DataError, match=r"every row has a label of its own.*label_column"):
        name_classes(column(*map(str, range(10))))
    assert len(name_classes(column(*map(str, range(9))))) == 9


@pytest.mark.field_case(55)
def test_unlabelled_training_rows_are_counted_and_refused() -> None:
    with pytest.raises(DataError, match=r"row 2: no label .* in 2 of 4 training rows; leave them"):
        name_classes(column("a", None, "b", None))
