"""Shared fixtures: seeds, reference values and tiny models, all made here, none downloaded."""

import json
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import torch

# The same examples in every run, and no clock: a busy machine fails no test.
hypothesis.settings.register_profile("seeded", derandomize=True, deadline=None)
hypothesis.settings.load_profile("seeded")


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


@pytest.fixture(scope="session")
def reference_values() -> dict[str, Any]:
    """Expected values, made by plain loops in float64 and confirmed by a separate script."""
    return json.loads((Path(__file__).parent / "data" / "reference_values.json").read_text())
