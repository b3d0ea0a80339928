"""The number of labels that a loaded model is asked to have, against the number it has."""

from collections.abc import Mapping
from os import PathLike
from typing import Any

from exitwise.modeling.config import MultiExitConfig

# What says where a model's files are, of the arguments of `from_pretrained`.
WHERE = ("cache_dir", "force_download", "local_files_only", "revision", "subfolder", "token")


def check_label_count(
    name_or_path: str | PathLike[Any] | None, options: Mapping[str, object]
) -> None:
    """Refuses to load a model for another number of labels than it has.

    The library would say which weights do not fit, in a table.

    Raises:
        ValueError: names both numbers, and the option that starts the classifiers anew.
    """
    asked = _asked_for(options)
    if asked is None or name_or_path is None or options.get("ignore_mismatched_sizes"):
        return
    where: dict[str, Any] = {name: options[name] for name in WHERE if name in options}
    found = len(MultiExitConfig.from_pretrained(name_or_path, **where).label_names)
    if asked != found:
        raise ValueError(
            f"{name_or_path} has {found} labels, asked for {asked}: "
            "ignore_mismatched_sizes=True starts its classifiers anew"
        )


def _asked_for(options: Mapping[str, object]) -> int | None:
    """The number of labels in the arguments of `from_pretrained`, if it is there."""
    match options:
        case {"id2label": Mapping() as names}:
            return len(names)
        case {"num_labels": int(number)}:
            return number
        case {"config": MultiExitConfig() as config}:
            return len(config.label_names)
    return None
