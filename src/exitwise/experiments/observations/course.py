"""How training went."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from exitwise.run import RunFolder


def course(run: RunFolder, stages: Iterable[str]) -> dict[str, Any]:
    """How training went: the average score after each epoch, and the share of open gates.

    Gates are counted in twentieths of a stage, all exits together.
    """
    epochs = (
        [json.loads(line) for line in run.metrics.read_text().splitlines()]
        if run.metrics.exists()
        else []
    )
    return {
        "epochs": [
            {"stage": line["stage"], "epoch": line["epoch"], **line["average"]} for line in epochs
        ],
        "open_gates": {
            stage: shares for stage in stages if (shares := open_shares(run.gates(stage)))
        },
    }


def open_shares(path: Path, parts: int = 20) -> list[float]:
    """The share of open gates in each part of a stage."""
    lines = path.read_text().splitlines() if path.exists() else []
    decisions = np.array([json.loads(line)["open"] for line in lines], dtype=float)
    return [round(float(part.mean()), 4) for part in np.array_split(decisions, parts) if len(part)]
