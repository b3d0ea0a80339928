"""One graph of several segments: the first k layers with exit k and none before it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
from onnx import compose
from onnx.utils import Extractor

from exitwise.export.graph_edits import read_instead
from exitwise.export.new_folder import check_is_new
from exitwise.inference.manifest import (
    Manifest,
    read_manifest,
    segment_name,
    with_files,
    write_manifest,
)
from exitwise.whole_files import write_folder

SEGMENT = segment_name(1)


def merge_segments(folder: Path, target: Path, *, layer: int) -> None:
    """Writes the plain model of the layers up to an exit, as an exported folder of one segment.

    It is what a user would deploy without early exit, with the same weights and the same
    operators: the fair model to compare with. Nothing is exported again, so that it takes no
    torch and no time.

    Args:
        folder: the exported folder.
        target: the new one.
        layer: that of the exit that answers.

    Raises:
        ExitwiseError: a file of the folder is not what was written, or the target exists.
        ValueError: no segment ends there.
    """
    manifest = read_manifest(folder)
    count = manifest.exit_layers.index(layer) + 1
    check_is_new(target)

    def write(partial: Path) -> None:
        graph = merged([onnx.load(folder / name) for name in manifest.segments[:count]])
        onnx.save(graph, str(partial / SEGMENT))
        tokenizer = (folder / "tokenizer.json").read_bytes()
        (partial / "tokenizer.json").write_bytes(tokenizer)
        write_manifest(partial, one_segment(manifest, partial, count))

    write_folder(target, write)


def merged(segments: list[onnx.ModelProto]) -> onnx.ModelProto:
    """The segments one after the other, with the logits of the last alone."""
    *earlier, last = segments
    parts = [*(part_of(each, "hidden_after") for each in earlier), part_of(last, "logits")]
    whole = compose.add_prefix(parts[0], "1.")
    for number, part in enumerate(parts[1:], start=2):
        states = whole.graph.output[0].name, f"{number}.hidden"
        whole = compose.merge_models(whole, compose.add_prefix(part, f"{number}."), io_map=[states])
        read_instead(whole.graph, f"{number}.attention_mask", "1.attention_mask")
    kept = [each for each in whole.graph.input if each.name.startswith("1.")]
    del whole.graph.input[:]
    for each in kept:
        name = each.name.removeprefix("1.")
        read_instead(whole.graph, each.name, name)
        each.name = name
    whole.graph.input.extend(kept)
    opsets = {each.domain: each for each in whole.opset_import}  # merging repeats them
    del whole.opset_import[:]
    whole.opset_import.extend(opsets.values())
    return whole


def part_of(segment: onnx.ModelProto, output: str) -> onnx.ModelProto:
    """What a segment computes for one of its outputs."""
    names = [each.name for each in segment.graph.input]
    return Extractor(segment).extract_model(names, [output])


def one_segment(manifest: Manifest, folder: Path, count: int) -> Manifest:
    """The manifest of the first `count` segments as one."""
    layers = np.array([each["layers"] for each in manifest.macs[:count]]).sum(axis=0)
    one = replace(
        manifest,
        num_layers=manifest.exit_layers[count - 1],
        exit_layers=manifest.exit_layers[count - 1 : count],
        segments=(SEGMENT,),
        macs=({"layers": layers.tolist(), "exit": manifest.macs[count - 1]["exit"]},),
        calibration=None,
    )
    return with_files(one, folder)
