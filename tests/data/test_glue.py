import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from exitwise.data import TASKS, DataConfig, load_splits, load_task_split
from exitwise.errors import DataError
from exitwise.metrics import Metric

WriteParquet = Callable[[Path, Mapping[str, Sequence[object]]], Path]
ROWS = {"idx": [0, 1, 2], "label": [1, 0, 1]}
SENTENCES = {"sentence": ["NA", "b", "c"], **ROWS}
PAIRS = {"sentence1": ["a", "b", "c"], "sentence2": ["d", "e", "f"], **ROWS}


@pytest.fixture
def glue(tmp_path: Path, write_parquet: WriteParquet) -> Path:
    """A folder as of GLUE, of three rows a split."""
    for task in TASKS.values():
        columns = SENTENCES if task.pair_column is None else PAIRS
        for split in ("train_subset", *task.validation_splits):
            write_parquet(tmp_path / task.folder / f"{split}.parquet", columns)
    return tmp_path


def test_the_tasks_are_the_seven_of_glue_with_their_metrics() -> None:
    assert {name: (task.metric, len(task.label_names)) for name, task in TASKS.items()} == {
        "cola": ("matthews", 2),
        "sst2": ("accuracy", 2),
        "mrpc": ("f1_accuracy", 2),
        "qqp": ("f1_accuracy", 2),
        "mnli": ("accuracy", 3),
        "qnli": ("accuracy", 2),
        "rte": ("accuracy", 2),
    }
    assert {task.metric for task in TASKS.values()} <= set(Metric.__args__)


def test_the_sizes_of_the_development_sets_are_those_of_the_paper() -> None:
    sizes = {n: [t.sizes[s] for s in t.validation_splits] for n, t in TASKS.items()}
    assert sizes == {
        "cola": [1043],
        "sst2": [872],
        "mrpc": [408],
        "qqp": [40430],
        "mnli": [9815, 9832],
        "qnli": [5463],
        "rte": [277],
    }


@pytest.mark.parametrize("name", TASKS)
def test_each_task_is_read_from_a_folder(glue: Path, name: str) -> None:
    task = TASKS[name]
    splits = load_splits(DataConfig(task=name, data_dir=str(glue)), seed=1)
    assert splits.train.texts == (("NA", "b", "c") if task.pair_column is None else ("a", "b", "c"))
    assert splits.train.pairs == (None if task.pair_column is None else ("d", "e", "f"))
    assert splits.train.labels == (1, 0, 1)
    assert tuple(splits.validation) == task.validation_splits
    assert (splits.label_names, splits.metric) == (task.label_names, task.metric)
    assert splits.test is None


def test_a_part_of_a_split_is_said_to_be_one(glue: Path, caplog: pytest.LogCaptureFixture) -> None:
    source = load_task_split("qnli", "train", glue).source
    assert source == "qnli/train_subset (subset, 3 of 104743 rows)"
    assert "train_subset.parquet is not the whole official set: 3 of 104743 rows" in caplog.text


def test_a_whole_split_is_not_said_to_be_a_part(
    glue: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    small = replace(TASKS["rte"], sizes={"train": 3, "validation": 3})
    monkeypatch.setitem(TASKS, "rte", small)
    assert load_task_split("rte", "validation", glue).source == "rte/validation"
    assert caplog.record_tuples == []


def test_a_whole_split_goes_before_a_part(glue: Path, write_parquet: WriteParquet) -> None:
    whole = {name: values[:1] for name, values in SENTENCES.items()}
    write_parquet(glue / "CoLA" / "train.parquet", whole)
    assert len(load_task_split("cola", "train", glue)) == 1


def test_a_metric_in_the_recipe_goes_before_the_official_one(glue: Path) -> None:
    config = DataConfig(task="mrpc", data_dir=str(glue), metric="f1")
    assert load_splits(config, seed=1).metric == "f1"


@pytest.mark.field_case(55)
def test_hidden_labels_of_a_test_set_are_minus_one(glue: Path, write_parquet: WriteParquet) -> None:
    write_parquet(glue / "SST-2" / "test.parquet", {**SENTENCES, "label": [-1, -1, -1]})
    splits = load_splits(DataConfig(task="sst2", data_dir=str(glue)), seed=1)
    assert splits.test is not None
    assert splits.test.labels == (-1, -1, -1)


def test_columns_may_have_the_names_of_the_hub(glue: Path, write_parquet: WriteParquet) -> None:
    columns = {"premise": ["a"], "hypothesis": ["b"], "label": [2]}
    write_parquet(glue / "MNLI" / "train.parquet", columns)
    texts = load_task_split("mnli", "train", glue)
    assert (texts.texts, texts.pairs, texts.labels) == (("a",), ("b",), (2,))


def test_what_is_not_in_the_folder_is_refused(glue: Path, write_parquet: WriteParquet) -> None:
    with pytest.raises(DataError, match=r"holds neither train.parquet nor train_subset.parquet"):
        load_task_split("rte", "train", glue / "RTE")
    with pytest.raises(DataError, match=r"rte has no split 'dev' .*train, validation, test"):
        load_task_split("rte", "dev", glue)
    write_parquet(glue / "RTE" / "train.parquet", {**PAIRS, "label": [0, 1, 2]})
    with pytest.raises(DataError, match="row 3, column 'label': unknown label '2'"):
        load_task_split("rte", "train", glue)


@pytest.mark.parametrize("name", ["mrpc", "sst2"])
def test_nothing_is_logged_of_numbers_that_are_as_they_should_be(
    glue: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "exitwise")
    load_task_split(name, "validation", glue)
    assert "labels are numbers" not in caplog.text
