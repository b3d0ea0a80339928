"""Pre-trained weights: all of them, and no alarm about what nobody needs."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from transformers import PreTrainedConfig, PreTrainedModel

from exitwise.errors import UnsupportedError


def load_weights(
    from_pretrained: Callable[..., Any],
    name_or_path: str | Path,
    config: PreTrainedConfig,
    **options: bool,
) -> tuple[PreTrainedModel, set[str]]:
    """A model in float32, and the names of its parameters that the files lack.

    The library reports weights that are in the files and not in the model, such as a pooler or a
    head for masked words, in a table of warnings. For an encoder that is as it should be.

    Args:
        from_pretrained: that of an Auto class; the library has no type for it.
        name_or_path: a folder or hub id.
        config: the model's configuration.
        options: further arguments of the model's class.
    """
    with _load_report_held_back():
        model, report = from_pretrained(
            name_or_path, config=config, dtype="float32", output_loading_info=True, **options
        )
    return model, set(report["missing_keys"])


def check_complete(name_or_path: str | Path, missing: set[str]) -> None:
    """Refuses weights that are not all there.

    Raises:
        UnsupportedError: names the first of the parameters that are missing.
    """
    if missing:
        raise UnsupportedError(
            f"{name_or_path} lacks {len(missing)} of the model's weights, {min(missing)} for one: "
            "they would stay random"
        )


@contextmanager
def _load_report_held_back() -> Iterator[None]:
    """Logs the library's table only if loading fails, whose error refers to it."""
    logger = logging.getLogger("transformers.modeling_utils")
    held: list[logging.LogRecord] = []

    def let_through(record: logging.LogRecord) -> bool:
        if "LOAD REPORT" not in record.getMessage():
            return True
        held.append(record)
        return False

    logger.addFilter(let_through)
    try:
        yield
    except Exception:
        logger.removeFilter(let_through)
        for record in held:
            logger.handle(record)
        raise
    finally:
        logger.removeFilter(let_through)
