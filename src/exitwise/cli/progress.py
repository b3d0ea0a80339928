"""A bar for each stage of a training run. Imports transformers: only for commands that train."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.progress import Progress, TaskID, TextColumn
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from exitwise.cli.reports import bars

logger = logging.getLogger(__name__)

NO_REMARKS = {"loss": "", "gate": "", "score": ""}
"""What there is to say of a stage, in this order."""


@contextmanager
def stage_progress() -> Iterator["StageProgress"]:
    """A callback that draws, while the context lasts, on standard error."""
    with bars(TextColumn("{task.fields[remark]}")) as progress:
        stages = StageProgress(progress)
        yield stages
        stages.stop_waiting()


class StageProgress(TrainerCallback):
    """Shows updates, loss, the share of open gates and the score of each epoch.

    Between stages a spinner shows that work goes on: reading, hidden states, measuring.

    Args:
        progress: a live display with a field `remark`.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._remarks = dict(NO_REMARKS)
        self._bar: TaskID | None = None
        self._waiting: TaskID | None = None
        self.wait("preparing")

    def wait(self, reason: str) -> None:
        """Shows that work goes on which no bar measures."""
        self._waiting = self._progress.add_task(reason, total=None, remark="")

    def stop_waiting(self) -> None:
        """A bar takes over, or all is done."""
        if self._waiting is not None:
            self._progress.remove_task(self._waiting)
        self._waiting = None

    def on_train_begin(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **kwargs: object,
    ) -> None:
        """A new stage."""
        self.stop_waiting()
        self._remarks = dict(NO_REMARKS)
        self._bar = self._progress.add_task(
            stage_name(args),
            total=state.max_steps,
            completed=state.global_step,
            remark="",
        )

    def on_step_end(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **kwargs: object,
    ) -> None:
        """One update more."""
        self._draw(completed=state.global_step)

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, float] | None = None,
        **kwargs: object,
    ) -> None:
        """Loss and gate since the last time."""
        self._remarks |= training_remarks(logs or {})
        self._draw()

    def on_evaluate(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        metrics: dict[str, float] | None = None,
        **kwargs: object,
    ) -> None:
        """The mean score of the exits that are trained, after an epoch."""
        if metrics and "eval_score" in metrics:
            self._remarks["score"] = f"score {metrics['eval_score']:.1f}"
        self._draw()
        logger.info("%s, epoch %.0f: %s", stage_name(args), state.epoch, self._remark())

    def on_train_end(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **kwargs: object,
    ) -> None:
        """The stage is over."""
        self._draw(completed=state.global_step)
        self.wait("going on")

    def _draw(self, **changes: Any) -> None:  # noqa: ANN401 - rich's own
        assert self._bar is not None
        self._progress.update(self._bar, remark=self._remark(), **changes)

    def _remark(self) -> str:
        return ", ".join(remark for remark in self._remarks.values() if remark)


def stage_name(args: TrainingArguments) -> str:
    """The name of the stage that runs; its folder has it."""
    return Path(str(args.output_dir)).name


def training_remarks(logs: dict[str, float]) -> dict[str, str]:
    """What a line of the Trainer's log says, in words.

    >>> training_remarks({"loss": 0.4321, "gate_open": 0.925})
    {'loss': 'loss 0.432', 'gate': 'gate 92 % open'}
    """
    remarks = {}
    if "loss" in logs:
        remarks["loss"] = f"loss {logs['loss']:.3f}"
    if "gate_open" in logs:
        remarks["gate"] = f"gate {100 * logs['gate_open']:.0f} % open"
    return remarks
