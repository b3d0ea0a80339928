"""The policy that belongs to a model folder, as `policy.json`."""

import json
from pathlib import Path

from exitwise.errors import ExitwiseError
from exitwise.policies import ExitPolicy, policy_from_plain, policy_to_plain

FILE = "policy.json"
VERSION = 1


def write_policy(folder: Path, policy: ExitPolicy) -> None:
    """Writes the policy into a model's folder, whole or not at all."""
    plain = {"format_version": VERSION, "policy": policy_to_plain(policy)}
    partial = folder / (FILE + ".partial")
    partial.write_text(json.dumps(plain, indent=2) + "\n", encoding="utf-8")
    partial.replace(folder / FILE)


def read_policy(folder: Path) -> ExitPolicy | None:
    """The policy of a model; `None` if it was never calibrated.

    Raises:
        ExitwiseError: the file is damaged, or of a version that is not known.
    """
    path = folder / FILE
    if not path.exists():
        return None
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        version = plain["format_version"]
        settings = dict(plain["policy"])
    except (ValueError, KeyError, TypeError):
        raise ExitwiseError(f"{path} is no policy: calibrate the model again") from None
    if version != VERSION:
        raise ExitwiseError(
            f"{path} has the format version {version}, this exitwise reads {VERSION}: "
            "install the version that wrote it, or calibrate the model again"
        )
    try:
        return policy_from_plain(settings)
    except ExitwiseError as error:
        raise ExitwiseError(f"{path}: {error}") from None
