"""The policy that belongs to a model folder, as `policy.json`."""

from pathlib import Path
from typing import Any

from exitwise.errors import ExitwiseError
from exitwise.inference.calibration_report import read_report, write_report
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
    """Writes the policy into a model's folder, whole or not at all, and what was reported of it.

    Args:
        folder: of a model, or an exported one, whose manifest holds the hash afterwards.
        policy: to be used from now on.
        calibration: a report; without one the folder's own stays if it is of this policy.
    """
    path, plain = folder / FILE, policy_to_plain(policy)
    manifest = load_manifest(folder) if (folder / MANIFEST).exists() else None
    before = read_report(folder) if manifest is None else manifest.calibration
    if calibration is None and before is not None and before.get("policy") == plain:
        calibration = before
    write_json(path, {"format_version": VERSION, "policy": plain})
    if manifest is None:
        write_report(folder, calibration)
    else:
        write_manifest(folder, with_policy(manifest, path, calibration))


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
