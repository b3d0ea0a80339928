"""From a trained classifier to a folder of graphs that answers without torch."""

import logging
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import onnx
import torch
from torch import Tensor
from torch.export import Dim

import exitwise
from exitwise.encoders import layerwise
from exitwise.errors import ExitwiseError, UnsupportedError
from exitwise.export.attention import IMPLEMENTATION
from exitwise.export.int8 import quantize
from exitwise.export.new_folder import check_is_new
from exitwise.export.segments import FirstSegment, Segment
from exitwise.export.tidied import tidied
from exitwise.inference.manifest import Macs, Manifest, segment_name, with_files, write_manifest
from exitwise.inference.policy_file import write_policy
from exitwise.inference.torch_engine import TorchEngine
from exitwise.policies import ExitPolicy
from exitwise.whole_files import write_folder

logger = logging.getLogger(__name__)

OPSET = 23
EXPORTABLE = (
    "bert",
    "camembert",
    "distilbert",
    "electra",
    "ernie",
    "mpnet",
    "roberta",
    "xlm-roberta",
)
"""The encoders whose graphs are tested against torch."""


def export_onnx(
    engine: TorchEngine,
    folder: Path,
    *,
    policy: ExitPolicy | None = None,
    exits: Sequence[int] | None = None,
    int8: bool = False,
    calibration: dict[str, Any] | None = None,
) -> None:
    """Writes one graph a segment, tokenizer, policy and manifest into a new folder.

    Args:
        engine: the classifier, on the CPU and in float32.
        folder: where to; it must not exist, and appears only when it is whole.
        policy: what it was calibrated with.
        exits: the layers whose exits are kept, all if `None`; the model ends at the last of them.
        int8: whether the layers' products run in 8 bits.
        calibration: what `exitwise calibrate` reported, for the manifest.

    Raises:
        UnsupportedError: the encoder's graph is not tested, or an exit has none.
        ExitwiseError: there is no such exit, the policy does not fit those that are kept, or the
            folder exists.
    """
    layers = chosen_exits(engine, exits)
    check_encoder(engine)
    if policy is not None:
        policy.check(layers=layers, num_labels=len(engine.labels))
    check_is_new(folder)

    def write(partial: Path) -> None:
        names = write_segments(engine, partial, layers, int8=int8)
        (partial / "tokenizer.json").write_text(engine.tokens.tokenizer.to_str(), encoding="utf-8")
        if policy is not None:
            write_policy(partial, policy)
        manifest = manifest_of(engine, partial, layers, names, int8=int8, calibration=calibration)
        write_manifest(partial, manifest)

    write_folder(folder, write)


def chosen_exits(engine: TorchEngine, exits: Sequence[int] | None) -> tuple[int, ...]:
    """The exits to keep, in ascending order."""
    layers = tuple(sorted(set(engine.exit_layers if exits is None else exits)))
    missing = set(layers) - set(engine.exit_layers)
    if missing or not layers:
        there = ", ".join(map(str, engine.exit_layers))
        asked = ", ".join(map(str, sorted(missing))) or "none"
        raise ExitwiseError(f"exits {asked} cannot be kept: the model has exits at {there}")
    return layers


def check_encoder(engine: TorchEngine) -> None:
    """Whether graphs of this type of encoder are tested.

    Raises:
        UnsupportedError: they are not.
    """
    kind = engine.model.encoder.config.model_type
    if kind not in EXPORTABLE:
        raise UnsupportedError(
            f"an encoder of type {kind!r} cannot be exported to ONNX yet; these can: "
            f"{', '.join(EXPORTABLE)}"
        )


def write_segments(
    engine: TorchEngine, folder: Path, layers: Sequence[int], *, int8: bool
) -> tuple[str, ...]:
    """One file a segment; their names."""
    model = engine.model
    attention = model.encoder.config._attn_implementation
    model.encoder.set_attn_implementation(IMPLEMENTATION)
    try:
        names = []
        for number, (after, to) in enumerate(zip((0, *layers), layers, strict=False), start=1):
            graph = traced(engine, after=after, to=to, is_last=to == layers[-1])
            if int8:  # the products of the layers: those of an MHA exit are narrower
                graph = quantize(graph, least_width=width_of(engine))
            names.append(segment_name(number))
            onnx.save(graph, str(folder / names[-1]))
            logger.info("up to layer %d: %s is written", to, names[-1])
        return tuple(names)
    finally:
        model.encoder.set_attn_implementation(attention)


def traced(engine: TorchEngine, *, after: int, to: int, is_last: bool) -> onnx.ModelProto:
    """The graph of one segment, with batch and length dynamic."""
    inputs = example(engine)
    mask = inputs["attention_mask"]
    if after == 0:
        segment: Segment = FirstSegment(engine.model, to=to, is_last=is_last)
    else:
        segment = Segment(engine.model, after=after, to=to, is_last=is_last)
        hidden = torch.randn(*mask.shape, width_of(engine))
        inputs = {"hidden": hidden, "attention_mask": mask}
    axes = {0: Dim("n", min=1), 1: Dim("l", min=1)}
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # of the exporter, about itself
        program = torch.onnx.export(
            segment.eval(),
            kwargs=inputs,
            input_names=list(inputs),
            output_names=["logits"] if is_last else ["hidden_after", "logits"],
            dynamic_shapes=dict.fromkeys(inputs, axes),
            opset_version=OPSET,
            dynamo=True,
            verbose=False,
        )
    assert program is not None
    return tidied(program.model_proto)


def width_of(engine: TorchEngine) -> int:
    """The width of the hidden states, which no matrix of a whole layer is narrower than.

    Where heads were pruned, their matrices are, and stay in float32.
    """
    return layerwise(engine.model.encoder).width


def example(engine: TorchEngine) -> dict[str, Tensor]:
    """Two texts of different length, as the first segment takes them."""
    texts = ["a text", "a somewhat longer text than the first"]
    encoded = engine.tokens.encode(texts, texts if engine.tokens.takes_pairs else None)
    return {name: torch.from_numpy(ids) for name, ids in engine.tokens.padded(encoded).items()}


def macs_of(engine: TorchEngine, *, after: int, to: int) -> Macs:
    """The coefficients of a segment's multiply-accumulates, which are quadratic in the length."""
    exit = engine.model.exit(to)
    exit_at = [exit.macs(length) for length in (1, 2, 3)]
    whole_at = [engine.macs(after=after, to=to, length=length) for length in (1, 2, 3)]
    layers_at = [whole - part for whole, part in zip(whole_at, exit_at, strict=True)]
    return {"layers": quadratic(layers_at), "exit": quadratic(exit_at)}


def quadratic(values: Sequence[int]) -> list[int]:
    """The coefficients of 1, x and x² of the parabola through its values at 1, 2 and 3.

    >>> quadratic([5 + 7 * x + 2 * x * x for x in (1, 2, 3)])
    [5, 7, 2]
    """
    one, two, three = values
    square = (three - 2 * two + one) // 2
    linear = two - one - 3 * square
    return [one - linear - square, linear, square]


def manifest_of(
    engine: TorchEngine,
    folder: Path,
    layers: tuple[int, ...],
    segments: tuple[str, ...],
    *,
    int8: bool,
    calibration: dict[str, Any] | None,
) -> Manifest:
    """What is in the folder."""
    manifest = Manifest(
        labels=engine.labels,
        num_layers=layers[-1],
        exit_layers=layers,
        width=width_of(engine),
        dtype="int8" if int8 else "float32",
        encoder=engine.model.encoder.config.model_type,
        max_length=engine.tokens.max_length,
        input_names=tuple(example(engine)),
        pad_id=engine.tokens.pad_id,
        pad_type_id=engine.tokens.pad_type_id,
        segments=segments,
        macs=tuple(
            macs_of(engine, after=after, to=to)
            for after, to in zip((0, *layers), layers, strict=False)
        ),
        sha256={},
        sizes={},
        calibration=calibration,
        exitwise_version=exitwise.__version__,
        takes_pairs=engine.tokens.takes_pairs,
    )
    return with_files(manifest, folder)
