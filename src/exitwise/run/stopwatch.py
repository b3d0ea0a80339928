"""How long a run takes, over all its sessions."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from exitwise.whole_files import write_text


class Stopwatch(TrainerCallback):
    """Seconds of a run by part, those of earlier sessions included. Parts may lie in each other.

    They are written down when a part ends or breaks off, and with every checkpoint: a kill loses
    the time of that work alone that is lost as well.

    Args:
        path: the file; what it holds is counted on.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._ended: dict[str, float] = json.loads(path.read_text()) if path.exists() else {}
        self._began: dict[str, float] = {}

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Adds the time until the context ends to a part."""
        self._began[name] = time.perf_counter()
        try:
            yield
        finally:
            self._ended[name] = self._so_far()[name]
            del self._began[name]
            self._write()

    def table(self) -> dict[str, float]:
        """The parts in which the run has been."""
        return {name: round(seconds, 1) for name, seconds in self._so_far().items()}

    def on_save(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **kwargs: object,
    ) -> None:
        """The Trainer has written a checkpoint."""
        self._write()

    def _so_far(self) -> dict[str, float]:
        now = time.perf_counter()
        running = {
            name: self._ended.get(name, 0.0) + now - began for name, began in self._began.items()
        }
        return self._ended | running

    def _write(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_text(self._path, json.dumps(self._so_far()))
