"""What is looked up in a finished model."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from exitwise.experiments.observations import digits, open_shares, shape
from exitwise.outputs import ExitOutput


def output(embedding: torch.Tensor) -> ExitOutput:
    return ExitOutput(
        logits=torch.zeros(len(embedding), 2), embedding=embedding, label_embeddings=torch.eye(2)
    )


def test_samples_on_their_label_embedding_have_cosine_one() -> None:
    found = shape(output(3 * torch.eye(2)[[0, 1, 1, 0]]), np.array([0, 1, 1, 0]), last=torch.eye(2))
    assert found["own_label_similarity"] == 1.0
    assert found["alignment"] == 0.0
    assert found["negative_similarity"] == 0.0
    turned = shape(output(torch.eye(2)[[1, 0, 0, 1]]), np.array([0, 1, 1, 0]), last=torch.eye(2))
    assert turned["own_label_similarity"] == 0.0


def test_the_last_exits_label_embeddings_are_compared_where_they_are_as_wide() -> None:
    samples, labels = output(torch.eye(2)), np.array([0, 1])
    assert shape(samples, labels, last=-5 * torch.eye(2))["last_label_similarity"] == -1.0
    assert shape(samples, labels, last=torch.eye(3)[:2])["last_label_similarity"] is None


def test_unlabelled_rows_change_nothing() -> None:
    embedding = torch.randn(6, 2)
    labels = np.array([0, 1, 1, 0, -1, -1])
    assert shape(output(embedding), labels, last=torch.eye(2)) == shape(
        output(embedding[:4]), labels[:4], last=torch.eye(2)
    )


def test_what_is_not_defined_is_none() -> None:
    found = shape(
        output(torch.eye(2)), np.array([0, 1]), last=torch.eye(2)
    )  # no two samples of one label
    assert found["alignment"] is None
    assert found["negative_similarity"] == 0.0


def test_open_gates_are_counted_part_by_part(tmp_path: Path) -> None:
    lines = [{"open": number >= 10, "angle": None, "group": "all"} for number in range(40)]
    path = tmp_path / "stage.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    assert open_shares(path, parts=4) == [0.0, 1.0, 1.0, 1.0]
    assert open_shares(tmp_path / "none.jsonl") == []


@pytest.mark.parametrize("count", [1, 7])
def test_fewer_decisions_than_parts_leave_parts_out(tmp_path: Path, count: int) -> None:
    path = tmp_path / "stage.jsonl"
    path.write_text("\n".join(json.dumps({"open": True}) for _ in range(count)))
    assert open_shares(path) == [1.0] * count


def test_answers_are_one_digit_a_row() -> None:
    assert digits(np.array([2, 0, -1, 1])) == "20.1"
