"""The gate's decisions, kept for every batch and summed up for the log."""

import json
import math
from collections.abc import Mapping
from pathlib import Path

from jaxtyping import Bool
from torch import Tensor

from exitwise.gradients import GateReport


class GateLog:
    """Angles and decisions of a stage, one JSON line a decision.

    The paper reports how often the angle exceeds 90 degrees; this file is where to count.

    Decisions are read when they are summed up, so that no step waits for an accelerator.

    Args:
        path: the file, appended to; `None` keeps nothing but the summary.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._unread: list[tuple[int, Mapping[str, GateReport]]] = []
        self._reports: list[GateReport] = []
        self._has_positive: list[Tensor] = []

    def add(self, step: int, decisions: Mapping[str, GateReport]) -> None:
        """The decisions of one micro-batch: by exit in a frozen stage, else one for "all"."""
        self._unread.append((step, decisions))

    def write(self) -> None:
        """Reads the decisions taken so far and appends them to the file."""
        unread, self._unread = self._unread, []
        lines = []
        for step, decisions in unread:
            for group, report in decisions.items():
                self._reports.append(report)
                angle = None if math.isnan(report.angle) else round(report.angle, 4)
                line = {"step": step, "group": group, "angle": angle, "open": report.is_open}
                lines.append(json.dumps(line) + "\n")
        if self._path is not None and lines:
            with self._path.open("a") as file:
                file.writelines(lines)

    def count_empty(self, has_positive: Bool[Tensor, ""] | None) -> None:
        """Counts a batch in which no sample had a positive: its contrastive loss was 0."""
        if has_positive is not None:
            self._has_positive.append(has_positive)

    def added_to(self, logs: dict[str, float]) -> dict[str, float]:
        """What a Trainer logs, and the summary where that is of training, not of an evaluation."""
        self.write()
        return logs | self.summary() if "loss" in logs else logs

    def summary(self) -> dict[str, float]:
        """The mean angle, the share of open gates and the undefined angles since the last time."""
        self.write()
        reports, self._reports = self._reports, []
        has_positive, self._has_positive = self._has_positive, []
        empty = sum(not any_positive for any_positive in has_positive)
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
