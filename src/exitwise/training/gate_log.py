"""The gate's decisions, kept for every batch and summed up for the log."""

import json
import math
from collections.abc import Mapping
from pathlib import Path

from exitwise.gradients import GateReport


class GateLog:
    """Angles and decisions of a stage, one JSON line a decision, written as they are taken.

    The paper reports how often the angle exceeds 90 degrees; this file is where to count.

    Args:
        path: the file, appended to; `None` keeps nothing but the summary.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._reports: list[GateReport] = []
        self._empty_batches = 0

    def add(self, step: int, reports: Mapping[str, GateReport]) -> None:
        """The decisions of one micro-batch: by exit in a frozen stage, else one for "all"."""
        self._reports.extend(reports.values())
        if self._path is None or not reports:
            return
        with self._path.open("a") as file:
            for group, report in reports.items():
                angle = None if math.isnan(report.angle) else round(report.angle, 4)
                line = {"step": step, "group": group, "angle": angle, "open": report.is_open}
                file.write(json.dumps(line) + "\n")

    def count_empty(self) -> None:
        """A batch in which no sample had a positive: its contrastive loss was 0."""
        self._empty_batches += 1

    def summary(self) -> dict[str, float]:
        """The mean angle, the share of open gates and the undefined angles since the last time."""
        reports, self._reports = self._reports, []
        empty, self._empty_batches = self._empty_batches, 0
        counts = {"batches_without_positive": float(empty)} if empty else {}
        if not reports:
            return counts
        angles = [report.angle for report in reports if not math.isnan(report.angle)]
        return counts | {
            "gate_angle": sum(angles) / len(angles) if angles else math.nan,
            "gate_open": sum(report.is_open for report in reports) / len(reports),
            "gate_undefined": float(sum(report.is_undefined for report in reports)),
        }

    def forget_after(self, step: int) -> None:
        """Drops what a broken-off run wrote beyond the checkpoint that training resumes from."""
        if self._path is None or not self._path.exists():
            return
        kept = [
            line for line in self._path.read_text().splitlines() if json.loads(line)["step"] < step
        ]
        self._path.write_text("".join(line + "\n" for line in kept))
