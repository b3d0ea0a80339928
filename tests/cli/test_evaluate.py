import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from exitwise.cli.labelled_texts import MetricName
from exitwise.inference.torch_engine import TorchEngine
from exitwise.metrics import Metric

Run = Callable[..., Any]

TEXTS = ("a very good film", "a bad plot", "great movie !", "dull and long", "not good")
LABELS = ("positive", "negative", "positive", "negative", "negative")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    rows = [f"{text},{label}" for text, label in zip(TEXTS, LABELS, strict=True)]
    path.write_text("\n".join(["text,label", *rows]) + "\n")
    return path


def accuracy(trained: Path, layer: int) -> float:
    engine = TorchEngine.from_pretrained(trained)
    answers = engine.logits(TEXTS, layers=[layer])[0].argmax(axis=-1)
    return 100 * float(
        np.mean([engine.labels[a] == b for a, b in zip(answers, LABELS, strict=True)])
    )


def test_every_exit_is_scored_on_a_file(exitwise: Run, trained: Path, data: Path) -> None:
    found = json.loads(exitwise("evaluate", trained, "--data", data, "--json").out)
    scores = found["scores"][str(data)]
    assert (scores["rows"], scores["labelled"]) == (5, 5)
    assert {layer: each["accuracy"] for layer, each in scores["exits"].items()} == {
        str(layer): pytest.approx(accuracy(trained, layer)) for layer in (1, 2, 3)
    }
    assert scores["majority"]["accuracy"] == pytest.approx(60)


def test_a_model_folder_does_as_well_as_its_run(exitwise: Run, trained: Path, data: Path) -> None:
    run, model = (
        exitwise("evaluate", each, "--data", data) for each in (trained, trained / "model")
    )
    assert run.out == model.out
    assert "majority class" in run.out


@pytest.mark.field_case(55)
def test_rows_without_label_are_not_scored_and_it_is_said(
    exitwise: Run, trained: Path, tmp_path: Path
) -> None:
    path = tmp_path / "unlabelled.csv"
    path.write_text("text,label\na good film,-1\na bad plot,-1\n")
    outcome = exitwise("evaluate", trained, "--data", path)
    assert outcome.status == 0
    assert "2 rows, none of them labelled: there is nothing to score" in outcome.out
    assert "accuracy" not in outcome.out
    path.write_text("text,label\na good film,-1\na bad plot,negative\n")
    assert "2 rows, 1 of them labelled" in exitwise("evaluate", trained, "--data", path).out


@pytest.mark.filterwarnings("default")
def test_a_task_is_scored_by_its_own_metric_and_split(
    exitwise: Run, trained: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "SST-2"
    folder.mkdir()
    columns = {"sentence": TEXTS, "label": [int(label == "positive") for label in LABELS]}
    parquet.write_table(pa.table(columns), folder / "validation.parquet")
    outcome = exitwise("evaluate", trained, "--task", "sst2", "--data-dir", tmp_path, "--json")
    found = json.loads(outcome.out)
    assert found["metric"] == "accuracy"
    scores = found["scores"]["sst2/validation"]["exits"]["3"]
    assert scores["accuracy"] == pytest.approx(accuracy(trained, 3))


def test_a_task_of_other_labels_is_refused_with_both(exitwise: Run, trained: Path) -> None:
    outcome = exitwise("evaluate", "-q", trained, "--task", "mrpc", "--data-dir", "anywhere")
    assert outcome.status == 2
    assert "not_equivalent, equivalent" in outcome.err
    assert "negative, positive" in outcome.err


def test_an_unknown_task_lists_the_known_ones(exitwise: Run, trained: Path) -> None:
    outcome = exitwise("evaluate", "-q", trained, "--task", "mrcp")
    assert outcome.status == 2
    assert "mrpc" in outcome.err


@pytest.mark.parametrize("both", [True, False])
def test_one_source_of_data_is_needed(exitwise: Run, data: Path, both: bool) -> None:
    outcome = exitwise("evaluate", "nowhere", *(["--data", data, "--task", "rte"] if both else []))
    assert outcome.status == 2
    assert "either --data FILE or --task TASK" in outcome.err


def test_the_metrics_of_the_flag_are_those_there_are() -> None:
    assert get_args(MetricName) == get_args(Metric)
