"""What a command says while it works, and how much of it: on standard error, results apart.

Results go to standard output, so that `exitwise predict … > answers.jsonl` holds answers alone.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.logging import RichHandler
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.status import Status

reports = Console(stderr=True)
"""For progress bars and remarks, which then stay above the bars; silent under `--quiet`."""

package = logging.getLogger("exitwise")


def tell(level: int) -> None:
    """Shows what exitwise logs from this level on, line by line if nobody watches."""
    reports.quiet = level > logging.INFO
    handler: logging.Handler
    if reports.is_terminal and not reports.quiet:
        handler = RichHandler(console=reports, show_path=False, show_time=False)
    else:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(levelname)-8s %(message)s"))
    handler.setLevel(level)
    package.handlers[:] = [handler]
    package.setLevel(level)


@contextmanager
def other_libraries_quiet() -> Iterator[None]:
    """Keeps the remarks of transformers and of torch's exporter to itself, unless all is told.

    Bars of downloads stay, as they can last.
    """
    import torch  # noqa: F401 - first: without it transformers would only remark on its absence
    from huggingface_hub.utils import logging as hub
    from huggingface_hub.utils.tqdm import enable_progress_bars
    from transformers.utils import logging as transformers

    if package.isEnabledFor(logging.DEBUG):
        yield
        return
    before = hub.get_verbosity(), transformers.get_verbosity()
    hub.set_verbosity_error()
    transformers.set_verbosity_error()
    transformers.disable_progress_bar()  # those of the hub too
    exporter = logging.getLogger("torch.onnx")  # remarks on the absence of torchvision
    exporter_before = exporter.level
    exporter.setLevel(logging.ERROR)
    if not reports.quiet:
        enable_progress_bars()
    try:
        yield
    finally:
        hub.set_verbosity(before[0])
        transformers.set_verbosity(before[1])
        transformers.enable_progress_bar()
        exporter.setLevel(exporter_before)


@contextmanager
def spinner(doing: str, *, hidden: bool = False) -> Iterator[Status]:
    """Shows that something lasts; its text can be updated."""
    status = reports.status(doing)
    if not hidden:
        status.start()
    try:
        yield status
    finally:
        status.stop()


@contextmanager
def bar(doing: str, total: int | None, *, hidden: bool = False) -> Iterator[Callable[[int], None]]:
    """Shows how much of something is done; to be told of each part when it is."""
    with bars(transient=True, disable=hidden) as progress:
        task = progress.add_task(doing, total=total)
        yield lambda count: progress.advance(task, count)


def bars(*more: ProgressColumn, transient: bool = False, disable: bool = False) -> Progress:
    """How bars look: what is done, how much of it, how long it will last, and more."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description:<11}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, *more, console=reports, transient=transient, disable=disable)
