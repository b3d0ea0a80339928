"""No more threads than cores, and a line about it."""

import logging
from collections.abc import Iterator

import pytest
import torch

from exitwise.training import TrainingSettings, choose_hardware


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("cores", "environment", "expected"), [(1, None, 1), (64, None, 2), (1, "2", 2)]
)
def test_threads_are_at_most_the_cores_that_a_process_may_use(
    monkeypatch: pytest.MonkeyPatch, cores: int, environment: str | None, expected: int
) -> None:
    monkeypatch.setattr("joblib.cpu_count", lambda **_: cores)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if environment is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", environment)
    choose_hardware(TrainingSettings())
    assert torch.get_num_threads() == expected


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_the_log_says_what_is_used(caplog: pytest.LogCaptureFixture, precision: str) -> None:
    with caplog.at_level(logging.INFO, "exitwise"):
        choose_hardware(TrainingSettings(precision=precision))
    (line,) = caplog.messages
    assert precision in line
    assert "bfloat16" in line
