import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import datasets
import pytest

from exitwise.data import DataConfig, glue, load_splits, load_task_split
from exitwise.data.columns import Columns
from exitwise.data.glue import read_split
from exitwise.data.hub import hub_table, hub_tables
from exitwise.data.rows import read_labelled
from exitwise.data.tasks import TASKS
from exitwise.errors import DataError

WriteParquet = Callable[[Path, Mapping[str, Sequence[object]]], Path]
ROWS = {"text": ["NA", "b", "c", "d"], "label": ["pos", "neg", "pos", "neg"]}


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads no cache of the user's and writes none."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    datasets.disable_progress_bars()


def labelled(labels: list[int], names: list[str]) -> datasets.Dataset:
    features = datasets.Features(
        {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=names)}
    )
    texts = [f"text {row}" for row in range(len(labels))]
    return datasets.Dataset.from_dict({"text": texts, "label": labels}, features=features)


@pytest.mark.field_case(77)
def test_a_folder_that_datasets_reads_gives_all_sets(
    tmp_path: Path, write_parquet: WriteParquet
) -> None:
    folder = tmp_path / "reviews"
    for split in ("train", "validation"):
        write_parquet(folder / f"{split}.parquet", ROWS)
    write_parquet(folder / "test.parquet", {**ROWS, "label": ["pos", None, "neg", None]})
    splits = load_splits(DataConfig(hub=str(folder)), seed=1)
    assert splits.train.texts == ("NA", "b", "c", "d")
    assert splits.label_names == ("neg", "pos")
    assert splits.validation["validation"].labels == (1, 0, 1, 0)
    assert splits.test is not None
    assert splits.test.labels == (1, -1, 0, -1)


def test_validation_is_split_off_where_the_hub_has_none(
    tmp_path: Path, write_parquet: WriteParquet
) -> None:
    write_parquet(tmp_path / "reviews" / "train.parquet", ROWS)
    splits = load_splits(DataConfig(hub=f"{tmp_path / 'reviews'}:default"), seed=1)
    assert (len(splits.train), len(splits.validation["validation"])) == (3, 1)


@pytest.mark.field_case(55)
def test_numbers_of_classes_get_their_names_and_minus_one_none() -> None:
    table = hub_table(labelled([1, -1, 0], ["low", "high"]), "levels/test")
    names = [record.cells["label"] for record in table.records(["label"])]
    assert names == ["1", "-1", "0"]
    assert table.class_names == {"label": ("low", "high")}


def test_classes_of_a_hub_set_keep_its_order(tmp_path: Path) -> None:
    labelled([2, 0, 0, 2, 2], ["low", "middle", "high"]).to_parquet(
        tmp_path / "a" / "train.parquet"
    )
    splits = load_splits(DataConfig(hub=str(tmp_path / "a"), validation_fraction=0.2), seed=1)
    assert splits.label_names == ("low", "high")


def test_a_split_of_glue_is_read_as_the_hub_has_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "exitwise")
    task = TASKS["qnli"]
    features = datasets.Features(
        {
            "question": datasets.Value("string"),
            "sentence": datasets.Value("string"),
            "label": datasets.ClassLabel(names=list(task.label_names)),
            "idx": datasets.Value("int32"),
        }
    )
    rows = {"question": ["a?", "b?"], "sentence": ["c", "d"], "label": [1, -1], "idx": [0, 1]}
    dataset = datasets.Dataset.from_dict(rows, features=features)
    texts = read_split(hub_table(dataset, "qnli/test"), task, "test")
    assert (texts.texts, texts.pairs, texts.labels) == (("a?", "b?"), ("c", "d"), (1, -1))
    assert "subset, 2 of 5463 rows" in texts.source


@pytest.mark.field_case(18)
def test_lists_of_labels_are_refused() -> None:
    dataset = datasets.Dataset.from_dict({"text": ["a"], "label": [[0, 1]]})
    with pytest.raises(DataError, match=r"tags/train, row 1, column 'label': .* multi-label"):
        read_labelled(hub_table(dataset, "tags/train"), Columns("text", None, "label"))


def test_a_set_without_training_rows_is_refused(
    tmp_path: Path, write_parquet: WriteParquet
) -> None:
    write_parquet(tmp_path / "reviews" / "test.parquet", ROWS)
    with pytest.raises(DataError, match=r"has no split train .its splits: test"):
        hub_tables(str(tmp_path / "reviews"))


def test_a_set_that_is_not_there_is_refused_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot load the data set nobody/nothing:") as raised:
        hub_tables("nobody/nothing")
    assert "\n" not in str(raised.value)


@pytest.mark.field_case(55)
def test_a_task_comes_from_its_configuration_of_the_hub_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "glue"
    splits = ("train", "validation", "test")
    names = ["unacceptable", "acceptable"]
    for split in splits:
        labels = [-1, -1] if split == "test" else [1, 0]
        rows = labelled(labels, names).rename_column("text", "sentence")
        rows.to_parquet(folder / "cola" / f"{split}.parquet")
    files = "".join(f"  - split: {name}\n    path: cola/{name}.parquet\n" for name in splits)
    card = f"---\nconfigs:\n- config_name: cola\n  data_files:\n{files}---\n"
    (folder / "README.md").write_text(card)
    monkeypatch.setattr(glue, "HUB_NAME", str(folder))
    found = load_splits(DataConfig(task="cola"), seed=1)
    assert (found.train.labels, found.test) == ((1, 0), None)
    assert found.validation["validation"].texts == ("text 0", "text 1")
    assert load_task_split("cola", "test", None).labels == (-1, -1)
