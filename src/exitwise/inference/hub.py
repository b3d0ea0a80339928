"""Where a model is: a folder of this machine, or the copy of a repository of the hub."""

from pathlib import Path

from exitwise.errors import ExitwiseError

NOT_NEEDED = ["*.h5", "*.msgpack", "*.ot", "*.tflite"]
"""Weights for other libraries, which repositories of stock models hold besides."""


def local_folder(name_or_path: str | Path) -> Path:
    """The folder of a model; a repository of the hub is downloaded whole, once.

    All of its files are needed: a policy, or the graphs of an exported model, are not among those
    that transformers fetches by itself.

    Raises:
        ExitwiseError: there is neither a folder nor a repository of that name.
    """
    folder = Path(name_or_path)
    if folder.is_dir():
        return folder
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError

    try:
        return Path(snapshot_download(str(name_or_path), ignore_patterns=NOT_NEEDED))
    except HFValidationError:
        raise ExitwiseError(
            f"{name_or_path} does not exist: name a run, a model folder, an exported folder or a "
            "hub id"
        ) from None
    except OSError as error:
        raise ExitwiseError(
            f"there is no folder {name_or_path}, and the hub gave no repository of that name "
            f"({type(error).__name__}): name a run, a model folder, an exported folder or a hub id"
        ) from error
