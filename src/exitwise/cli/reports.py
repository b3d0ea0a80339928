"""What a command says while it works, and how much of it: on standard error, results apart.

Results go to standard output, so that `exitwise predict … > answers.jsonl` holds answers alone.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.logging import RichHandler
from rich.status import Status

reports = Console(stderr=True)
"""For progress bars and remarks, which then stay above the bars; silent under `--quiet`."""

package = logging.getLogger("exitwise")


def tell(level: int, context: typer.Context) -> None:
    """Shows what exitwise logs from this level on, for as long as the command runs."""
    before = package.handlers[:], package.level, reports.quiet

    def restore() -> None:
        package.handlers[:], package.level, reports.quiet = before

    reports.quiet = level > logging.INFO
    console = Console(stderr=True) if reports.quiet else reports  # warnings are told in any case
    handler = RichHandler(level, console, show_path=False, show_time=False)
    package.handlers[:] = [handler]
    package.setLevel(level)
    context.call_on_close(restore)


@contextmanager
def other_libraries_quiet() -> Iterator[None]:
    """Keeps the remarks and bars of transformers to itself, unless all is told.

    Bars of downloads stay, as they can last.
    """
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
    if not reports.quiet:
        enable_progress_bars()
    try:
        yield
    finally:
        hub.set_verbosity(before[0])
        transformers.set_verbosity(before[1])
        transformers.enable_progress_bar()


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
