"""The gate's decisions, kept for every batch and summed up for the log."""

import json
import math
from collections.abc import Mapping
from pathlib import Path

from exitwise.gradients import GateReport


class GateLog:
    """Angles and decisions of a stage, one JSON line a decision.

    The paper reports how often the angle exceeds 90 degrees; this file is where to count.

    Args:
        path: the file, appended to; `None` keeps nothing but the summary.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lines: list[dict[str, object]] = []
        self._empty_batches = 0

    def add(self, step: int, reports: Mapping[str, GateReport]) -> None:
        """The decisions of one micro-batch: by exit in a frozen stage, else one for "all"."""
        for group, report in reports.items():
            angle = None if math.isnan(report.angle) else round(report.angle, 4)
            self._lines.append(
                {"step": step, "group": group, "angle": angle, "open": report.is_open}
            )

    def count_empty(self) -> None:
        """A batch in which no sample had a positive: its contrastive loss was 0."""
        self._empty_batches += 1

    def flush(self) -> dict[str, float]:
        """Writes what is new; the mean angle and the shares since the last time."""
        lines, self._lines = self._lines, []
        empty, self._empty_batches = self._empty_batches, 0
        summary = {"batches_without_positive": float(empty)} if empty else {}
        if not lines:
            return summary
        if self._path is not None:
            with self._path.open("a") as file:
                file.writelines(json.dumps(line) + "\n" for line in lines)
        angles = [line["angle"] for line in lines if isinstance(line["angle"], float)]
        return summary | {
            "gate_angle": sum(angles) / len(angles) if angles else math.nan,
            "gate_open": sum(bool(line["open"]) for line in lines) / len(lines),
            "gate_undefined": float(len(lines) - len(angles)),
        }

    def forget_after(self, step: int) -> None:
        """Drops what a broken-off run wrote beyond the checkpoint that training resumes from."""
        if self._path is None or not self._path.exists():
            return
        kept = [
            line for line in self._path.read_text().splitlines() if json.loads(line)["step"] < step
        ]
        self._path.write_text("".join(line + "\n" for line in kept))
