"""Shared fixtures: seeds, reference values and tiny models, all made here, none downloaded."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


@pytest.fixture(scope="session")
def reference_values() -> dict[str, Any]:
    """Expected values, made by plain loops in float64 and confirmed by a separate script."""
    return json.loads((Path(__file__).parent / "data" / "reference_values.json").read_text())
