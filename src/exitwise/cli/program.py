"""The program around the commands: flags that may stand anywhere, and errors in one line."""

import sys
import traceback
from collections.abc import Callable, Sequence

from exitwise.errors import ExitwiseError, MissingExtraError

EXTRAS = {
    "accelerate": "train",
    "datasets": "train",
    "filelock": "train",
    "huggingface_hub": "train",
    "joblib": "train",
    "matplotlib": "train",
    "onnx": "onnx",
    "onnxruntime": "onnx",
    "onnxscript": "onnx",
    "psutil": "train",
    "pyarrow": "train",
    "safetensors": "train",
    "scipy": "train",
    "sklearn": "train",
    "torch": "train",
    "transformers": "train",
}
"""The extra that brings a package, by the name it is imported by."""

QUIET, VERBOSE = ("--quiet", "-q"), ("--verbose", "-v")


def run(app: Callable[..., object], arguments: Sequence[str]) -> None:
    """Runs a command. What the user can mend is one line on standard error and status 2."""
    try:
        app(flags_first(arguments))
    except (ExitwiseError, OSError, ModuleNotFoundError) as error:
        if set(arguments) & {*VERBOSE}:
            traceback.print_exc()
        fail(str(missing_extra(error) if isinstance(error, ModuleNotFoundError) else error))


def flags_first(arguments: Sequence[str]) -> list[str]:
    """Lets `--quiet` and `--verbose`, which hold for all commands, stand behind a command too.

    >>> flags_first(["predict", "-q", "run", "--", "-v"])
    ['-q', 'predict', 'run', '--', '-v']
    """
    end = arguments.index("--") if "--" in arguments else len(arguments)
    before, after = arguments[:end], arguments[end:]
    flags = [each for each in before if each in (*QUIET, *VERBOSE)]
    return [*flags, *(each for each in before if each not in flags), *after]


def missing_extra(error: ModuleNotFoundError) -> MissingExtraError:
    """Which extra brings what is missing; a module that none brings is a bug, and raised."""
    package = (error.name or "").partition(".")[0]
    if package not in EXTRAS:
        raise error
    return MissingExtraError(package, extra=EXTRAS[package])


def fail(message: str) -> None:
    """Ends the program with a message in one line."""
    sys.stderr.write(f"exitwise: {' '.join(message.split())}\n")
    sys.exit(2)
