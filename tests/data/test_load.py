import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from exitwise.data import DataConfig, load_splits, load_texts
from exitwise.errors import DataError

WriteCsv = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> WriteCsv:
    def write(name: str, *lines: str) -> str:
        path = tmp_path / name
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return str(path)

    return write


def rows(*labels: str) -> list[str]:
    return ["text,label", *(f"text {row},{label}" for row, label in enumerate(labels))]


TWENTY = rows(*["pos"] * 10, *["neg"] * 10)


@pytest.mark.field_case(53)
def test_files_give_sets_with_the_classes_of_the_training_rows(write: WriteCsv) -> None:
    splits = load_splits(
        DataConfig(
            train=write("train.csv", *rows("pos", "neg", "pos")),
            validation=write("dev.csv", *rows("neg")),
            test=write("test.csv", *rows("pos", "")),
        ),
        seed=1,
    )
    assert splits.label_names == ("neg", "pos")
    assert splits.train.texts == ("text 0", "text 1", "text 2")
    assert splits.train.labels == (1, 0, 1)
    assert splits.validation["validation"].labels == (0,)
    assert splits.test is not None
    assert splits.test.labels == (1, -1)
    assert splits.metric == "accuracy"


@pytest.mark.field_case(55)
def test_a_test_file_needs_no_labels(write: WriteCsv) -> None:
    config = DataConfig(train=write("a.csv", *TWENTY), test=write("b.csv", "text,note", "a,b"))
    test = load_splits(config, seed=1).test
    assert test is not None
    assert test.labels == (-1,)


def test_validation_rows_are_split_off_by_seed_if_none_are_given(
    write: WriteCsv, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "exitwise")
    config = DataConfig(train=write("a.csv", *TWENTY), validation_fraction=0.2)
    splits = load_splits(config, seed=3)
    validation = splits.validation["validation"]
    assert (validation.labels.count(0), validation.labels.count(1)) == (2, 2)
    assert not set(validation.texts) & set(splits.train.texts)
    assert len(splits.train) == 16
    assert "no validation set given" in caplog.text
    assert "4 rows split off, seed 3" in caplog.text
    assert load_splits(config, seed=3) == splits
    assert load_splits(config, seed=4) != splits


def test_a_sample_of_training_rows_leaves_validation_alone(write: WriteCsv) -> None:
    path = write("a.csv", *TWENTY)
    whole = load_splits(DataConfig(train=path), seed=1)
    sample = load_splits(DataConfig(train=path, train_rows=6), seed=1)
    assert sample.validation == whole.validation
    assert (sample.train.labels.count(0), sample.train.labels.count(1)) == (3, 3)
    assert "6 of 18 rows, seed 1" in sample.train.source


def test_columns_and_metric_can_be_named(write: WriteCsv) -> None:
    path = write("a.csv", "text,a,b,y", "x,one,two,1", "x,three,four,0", "x,five,six,0")
    config = DataConfig(
        train=path, text_column="a", pair_column="b", label_column="y", metric="matthews"
    )
    splits = load_splits(config, seed=1)
    assert (splits.metric, splits.label_names) == ("matthews", ("0", "1"))
    both = splits.train.texts + splits.validation["validation"].texts
    pairs = [splits.train.pairs, splits.validation["validation"].pairs]
    assert sorted(both) == ["five", "one", "three"]
    assert sorted(sum(filter(None, pairs), ())) == ["four", "six", "two"]


@pytest.mark.parametrize(
    ("train", "validation", "message"),
    [
        (rows("a", "a"), rows("a"), r"train.csv, row 1 \(line 2\), column 'label': all 2 rows"),
        (rows("a", "b"), rows("0", "1"), r"dev.csv, row 1 \(line 2\), .* unknown label '0'"),
        (rows("a", "b"), rows("a", "c"), r"dev.csv, row 2 \(line 3\), .* unknown label 'c'"),
        (
            rows("a", "b", "-1"),
            rows("a"),
            r"train.csv, row 3 \(line 4\), .*: no label .* in 1 of 3",
        ),
        (rows("a", "b"), ["text", "x"], r"dev.csv has no column 'label' .its columns: text"),
        (rows("a", "b"), rows("", "-1"), "dev.csv: no row has a label"),
        (rows("a", "b"), ["text,label"], "dev.csv has no rows"),
        (["text,one,two", "a,b,c"], rows("a"), "which column holds the labels .*label_column"),
        (["text,label", ",a", "b,b"], rows("a"), r"row 1 \(line 2\), column 'text': the text is"),
        pytest.param(
            *(rows("0.5", "1.0"), rows("1.0"), "row 1 .line 2., .* regression is not supported"),
            marks=pytest.mark.field_case(57),
        ),
        pytest.param(
            *(rows("0.0", "1.0"), rows("1.0"), "row 1 .line 2., .* as integers or names, here 0"),
            marks=pytest.mark.field_case(57),
        ),
        pytest.param(
            *(rows('"[0, 1]"', "[1]"), rows("a"), "row 1 .line 2., .* multi-label"),
            marks=pytest.mark.field_case(18),
        ),
    ],
)
def test_a_fault_is_one_line_that_names_its_place(
    write: WriteCsv, train: list[str], validation: list[str], message: str
) -> None:
    config = DataConfig(train=write("train.csv", *train), validation=write("dev.csv", *validation))
    with pytest.raises(DataError, match=message) as raised:
        load_splits(config, seed=1)
    assert "\n" not in str(raised.value)


def test_a_file_that_is_missing_is_found_before_the_first_is_read(write: WriteCsv) -> None:
    config = DataConfig(train=write("train.csv", "broken"), test="nowhere/test.csv")
    with pytest.raises(DataError, match=r"test.csv does not exist"):
        load_splits(config, seed=1)


@pytest.mark.field_case(53)
def test_texts_are_read_with_the_classes_of_a_model(write: WriteCsv) -> None:
    names = ("neg", "pos")
    texts = load_texts(write("a.csv", *rows("pos", "", "neg")), label_names=names)
    assert texts.labels == (1, -1, 0)
    assert load_texts(write("b.csv", "text", "x"), label_names=names).labels == (-1,)
    assert load_texts(write("c.csv", *rows("1", "0")), label_names=names).labels == (1, 0)
    with pytest.raises(DataError, match=r"row 1 \(line 2\).*unknown label 'mixed'"):
        load_texts(write("d.csv", *rows("mixed")), label_names=names)
    with pytest.raises(DataError, match="has no column 'y'"):
        load_texts(write("d.csv", *rows("pos")), label_names=names, label_column="y")
