"""Where hidden states are kept."""

import logging
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from exitwise.data import EncodedTexts
from exitwise.errors import ExitwiseError
from exitwise.modeling import MultiExitForSequenceClassification
from exitwise.training import CacheSettings, cache_name, choose_place, parse_bytes

MB, GB = 10**6, 10**9


@pytest.mark.parametrize(
    ("size", "budget", "available", "free", "place"),
    [
        (100 * MB, GB, 8 * GB, 0, "memory"),
        (4 * GB, 4 * GB, 8 * GB, 0, "memory"),
        (4 * GB + 1, 5 * GB, 8 * GB, 7 * GB, "disk"),  # memory keeps half for others
        (4 * GB + 1, 5 * GB, 8 * GB, 6 * GB, "nowhere"),  # the disk keeps its reserve
        (100 * MB, 100 * MB - 1, 8 * GB, 100 * GB, "nowhere"),
        (1, 0, 8 * GB, 100 * GB, "nowhere"),
    ],
)
def test_memory_first_then_the_disk_within_the_budget(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    size: int,
    budget: int,
    available: int,
    free: int,
    place: str,
) -> None:
    asked: list[Path] = []

    def disk_usage(path: Path) -> Any:
        asked.append(path)
        return SimpleNamespace(free=free)

    monkeypatch.setattr(shutil, "disk_usage", disk_usage)
    folder = tmp_path / "not" / "yet"
    with caplog.at_level(logging.INFO, "exitwise"):
        found = choose_place(size, CacheSettings(budget=budget), folder, available=available)
    assert found == place
    assert all(path == tmp_path for path in asked)
    (line,) = caplog.messages
    word = {"memory": "in memory", "disk": str(folder), "nowhere": "in each epoch"}[place]
    assert word in line
    assert f"{size / 1e6:,.0f} MB" in line


@pytest.mark.parametrize("text", ["", "8 apples", "-1GB", "GB", "1e3"])
def test_a_size_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ExitwiseError, match="such as 8GB"):
        parse_bytes(text)


def test_the_name_tells_encoder_texts_layers_and_type_apart(
    make_model: Callable[..., MultiExitForSequenceClassification],
    make_rows: Callable[..., EncodedTexts],
) -> None:
    model, texts = make_model(), make_rows(5)
    names = [cache_name(model, texts, torch.float32)] * 2
    names[1] = cache_name(make_model(), make_rows(5), torch.float32)
    assert names[0] == names[1]
    names.append(cache_name(model, texts, torch.bfloat16))
    names.append(cache_name(model, texts.select([0, 1, 2, 4, 3]), torch.float32))
    other = make_rows(5)
    other.input_ids[1] += 1
    names.append(cache_name(model, other, torch.float32))
    with torch.no_grad():
        next(model.encoder.parameters())[0] += 1
    names.append(cache_name(model, texts, torch.float32))
    assert len(set(names)) == 5
