"""From the outputs of all exits to the numbers of an epoch."""

import logging

import numpy as np
import pytest
import torch

from exitwise.losses import compared_rows, geometry
from exitwise.losses.diagnostics import MAX_COMPARED
from exitwise.training import ExitPredictions, exit_scores


def predictions(rows: int, *, spread: float = 1.0) -> ExitPredictions:
    """Of one exit; every fourth row has no label."""
    random = np.random.default_rng(0)
    labels = np.where(np.arange(rows) % 4 == 3, -1, np.arange(rows) % 2)
    embeddings = (1 + spread * random.normal(size=(rows, 8))).astype(np.float32)
    logits = random.normal(size=(1, rows, 2)).astype(np.float32)
    return ExitPredictions(layers=(3,), logits=logits, embeddings={3: embeddings}, labels=labels)


@pytest.mark.parametrize("rows", [40, 2 * MAX_COMPARED])
def test_the_geometry_is_that_of_the_compared_rows(rows: int) -> None:
    given = predictions(rows)
    labels, embeddings = torch.from_numpy(given.labels), torch.from_numpy(given.embeddings[3])
    sample = compared_rows(labels)
    assert len(sample) == min(30 * rows // 40, MAX_COMPARED)
    expected = geometry(embeddings[sample], labels[sample])
    found = exit_scores(given, "accuracy")[3]
    assert found["alignment"] == expected.alignment.item()
    assert found["uniformity"] == expected.uniformity.item()


def test_without_a_label_there_are_no_scores() -> None:
    given = predictions(8)
    assert exit_scores(given._replace(labels=np.full(8, -1)), "accuracy") == {3: {}}


def test_a_collapse_is_told_with_its_exit(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        exit_scores(predictions(40), "accuracy")
        assert caplog.text == ""
        exit_scores(predictions(40, spread=1e-3), "accuracy")
    assert "exit 3: samples of different labels" in caplog.text
