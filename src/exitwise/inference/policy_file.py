"""The policy that belongs to a model folder, as `policy.json`."""

from pathlib import Path
from typing import Any

from exitwise.errors import ExitwiseError
from exitwise.inference.engine import Engine
from exitwise.inference.manifest import FILE as MANIFEST
from exitwise.inference.manifest import load_manifest, with_policy, write_manifest
from exitwise.inference.versioned_json import read_json, write_json
from exitwise.policies import ExitPolicy, policy_from_plain, policy_to_plain

FILE = "policy.json"
VERSION = 1


def write_policy(
    folder: Path, policy: ExitPolicy, *, calibration: dict[str, Any] | None = None
) -> None:
    """Writes the policy into a model's folder, whole or not at all.

    The manifest of an exported folder holds its hash afterwards, and the calibration: what was
    reported of the policy, if anything was.
    """
    path, plain = folder / FILE, policy_to_plain(policy)
    manifest = load_manifest(folder) if (folder / MANIFEST).exists() else None
    write_json(path, {"format_version": VERSION, "policy": plain})
    if manifest is not None:
        write_manifest(folder, with_policy(manifest, path, plain, calibration))


def read_policy(folder: Path, engine: Engine[Any] | None = None) -> ExitPolicy | None:
    """The policy of a model; `None` if it was never calibrated.

    Args:
        folder: of the model.
        engine: what runs the model, which the policy has to fit.

    Raises:
        ExitwiseError: the file is damaged, of a version that is not known, or does not fit.
    """
    path = folder / FILE
    if not path.exists():
        return None
    settings = read_json(
        path,
        lambda plain: dict(plain["policy"]),
        version=VERSION,
        kind="policy",
        remedy="calibrate the model again",
    )
    try:
        policy = policy_from_plain(settings)
        if engine is not None:
            policy.check(layers=engine.exit_layers, num_labels=len(engine.labels))
    except ExitwiseError as error:
        raise ExitwiseError(f"{path}: {error}") from None
    return policy
