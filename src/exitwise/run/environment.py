"""Where a run was made: what one needs to know to make it again."""

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

import exitwise

PACKAGES = (
    *("torch", "transformers", "accelerate", "datasets", "tokenizers", "numpy"),
    *("onnx", "onnxruntime"),
)


def environment() -> dict[str, object]:
    """Versions, processor, threads, and the commit where exitwise is run from a checkout."""
    return {
        "exitwise": exitwise.__version__,
        "commit": commit(),
        "python": platform.python_version(),
        "packages": {name: installed_version(name) for name in PACKAGES},
        "platform": platform.platform(terse=True),
        "processor": processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "accelerator": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
    }


def installed_version(package: str) -> str | None:
    """The version of a package, `None` if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def processor() -> str:
    """The name of the processor."""
    name = torch.cpu.get_capabilities().get("cpu_name")
    return str(name or platform.machine())


def commit() -> str | None:
    """The commit of the checkout, marked if something is changed; `None` outside of one.

    An installed copy may lie in somebody else's repository: so git must know this very file.
    """
    try:
        _git("ls-files", "--error-unmatch", Path(__file__).name)
        return _git("describe", "--always", "--dirty", "--abbrev=12")
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
