"""`manifest.json`: what an exported folder holds, and that nothing in it was changed."""

import hashlib
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from exitwise.errors import ExitwiseError
from exitwise.inference.versioned_json import read_json, write_json
from exitwise.plain_data import read_fields

FILE = "manifest.json"
VERSION = 1


Macs = dict[str, list[int]]


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """An exported classifier.

    Attributes:
        labels: the names of the classes, in their order.
        num_layers: layers of the encoder that was exported.
        exit_layers: the exits that are kept; segment i ends at the i-th of them.
        width: of the hidden states.
        dtype: "float32", or "int8" for the weights of the layers.
        encoder: its type, such as "bert".
        max_length: tokens of a text, special ones included.
        input_names: what the first segment takes.
        pad_id: the token that pads.
        pad_type_id: its type.
        segments: the files of the graphs, from shallow to deep.
        macs: of each segment, multiply-accumulates of one text in its "layers" and in its "exit":
            the coefficients of 1, l and l² for a length l.
        sha256: of each file, by name.
        sizes: of each file, in bytes.
        calibration: what `exitwise calibrate` reported; `None` if it was never calibrated.
        exitwise_version: what wrote the folder.
        format_version: of the folder.
        task: what the model does.
        takes_pairs: whether it answers pairs of texts; `None` if that is not known.
    """

    labels: tuple[str, ...]
    num_layers: int
    exit_layers: tuple[int, ...]
    width: int
    dtype: Literal["float32", "int8"]
    encoder: str
    max_length: int
    input_names: tuple[str, ...]
    pad_id: int
    pad_type_id: int
    segments: tuple[str, ...]
    macs: tuple[Macs, ...]
    sha256: dict[str, str]
    sizes: dict[str, int]
    calibration: dict[str, Any] | None
    exitwise_version: str
    format_version: int = VERSION
    task: Literal["text-classification"] = "text-classification"
    takes_pairs: bool | None = None


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Writes it, whole or not at all."""
    write_json(folder / FILE, asdict(manifest))


def segment_name(number: int) -> str:
    """The file of a segment; the first has number 1.

    >>> segment_name(2)
    'segment_02.onnx'
    """
    return f"segment_{number:02}.onnx"


def read_manifest(folder: Path) -> Manifest:
    """Reads the manifest and checks every file that it lists.

    Raises:
        ExitwiseError: the manifest is damaged or of another version; a file is missing, was
            changed or lies outside the folder; the segments do not fit the exits.
    """
    manifest = load_manifest(folder)
    unlisted = {*manifest.segments, "tokenizer.json"} - manifest.sha256.keys()
    if unlisted:
        names = ", ".join(sorted(unlisted))
        raise ExitwiseError(f"{folder / FILE}: sha256 lacks {names}: export the run again")
    for name, expected in manifest.sha256.items():
        check_file(folder, name, expected)
    return manifest


def load_manifest(folder: Path) -> Manifest:
    """The manifest alone, whatever the files beside it are.

    Raises:
        ExitwiseError: it is damaged or of another version, or its parts do not fit together.
    """
    path = folder / FILE
    plain = read_json(path, dict, version=VERSION, kind="manifest", remedy="export the run again")
    try:
        manifest = Manifest(**read_fields(Manifest, plain, str(path)))
        check_segments(manifest, path)
    except ExitwiseError as error:
        raise ExitwiseError(f"{error}: export the run again") from None
    return manifest


def check_segments(manifest: Manifest, path: Path) -> None:
    """Whether each exit has its segment, in their order.

    Raises:
        ExitwiseError: it does not.
    """
    layers = manifest.exit_layers
    there = ", ".join(map(str, layers)) or "no layer"
    if not layers or layers[0] < 1 or list(layers) != sorted(set(layers)):
        raise ExitwiseError(f"{path}: exit_layers must ascend from 1, found {there}")
    if manifest.num_layers != layers[-1]:
        raise ExitwiseError(
            f"{path}: num_layers is {manifest.num_layers} and the last exit at {layers[-1]}"
        )
    if manifest.segments != tuple(segment_name(index + 1) for index in range(len(layers))):
        found = ", ".join(manifest.segments)
        raise ExitwiseError(f"{path} has the segments {found} for the exits at {there}")
    if len(manifest.macs) != len(layers):
        raise ExitwiseError(f"{path} has {len(manifest.macs)} macs for the exits at {there}")


def check_file(folder: Path, name: str, expected: str | None) -> None:
    """Whether a file is in the folder and is what was written.

    Raises:
        ExitwiseError: it is not.
    """
    path = folder / name
    if Path(name).name != name:
        raise ExitwiseError(f"{folder} names a file outside of it: {name!r}")
    if not path.is_file():
        raise ExitwiseError(f"{path} is missing: export the run again")
    if sha256(path) != expected:
        raise ExitwiseError(f"{path} is not the file that was exported: export the run again")


def with_files(manifest: Manifest, folder: Path) -> Manifest:
    """The manifest with hash and size of every other file that is in the folder now."""
    files = sorted(path for path in folder.iterdir() if path.name != FILE)
    return replace(
        manifest,
        sha256={path.name: sha256(path) for path in files},
        sizes={path.name: path.stat().st_size for path in files},
    )


def with_policy(
    manifest: Manifest, policy_file: Path, calibration: dict[str, Any] | None
) -> Manifest:
    """The manifest with the policy that is in a file now, and what was reported of it."""
    name, size = policy_file.name, policy_file.stat().st_size
    return replace(
        manifest,
        sha256=manifest.sha256 | {name: sha256(policy_file)},
        sizes=manifest.sizes | {name: size},
        calibration=calibration,
    )


def sha256(path: Path) -> str:
    """The hash of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
