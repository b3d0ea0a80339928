"""What early exit gains on the clock, against every model that one could deploy instead.

For a calibrated run and labelled texts that neither training nor calibration has seen: eager
PyTorch and int8 ONNX graphs, one text at a time and in batches of 32, tokenizer included; all
systems take turns within one run (`exitwise benchmark` is the same comparison for a user). Beside
our int8 graphs stands the whole model as ONNX Runtime's own dynamic quantisation writes it.
"""

import argparse
import platform
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import onnxruntime
import torch
from harness import RESULTS, Claim, write_claims
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.registry import IntegerOpsRegistry

from exitwise.benchmark import System, calibrated_policy, compare, engines_of
from exitwise.benchmark.picture import draw
from exitwise.benchmark.verdict import fastest_as_good
from exitwise.classifier import load_engine
from exitwise.cli.labelled_texts import labelled_sets
from exitwise.export.merged import SEGMENT, merge_segments
from exitwise.export.onnx import export_onnx
from exitwise.inference.manifest import read_manifest, with_files, write_manifest
from exitwise.inference.onnx_engine import OnnxEngine
from exitwise.inference.torch_engine import TorchEngine
from exitwise.policies import ExitPolicy, FixedPolicy

STOCK = "stock int8"
OVERHEAD_BARS = {"1": 1.08, "32": 1.04}


def stock_int8(engine: TorchEngine, folder: Path, policy: ExitPolicy) -> System:
    """The whole model as one graph, quantised by ONNX Runtime with its defaults.

    But for `Attention`, which it takes for an operator of its own of that name.
    """
    export_onnx(engine, folder / "float32", policy=policy)
    layer, whole = engine.exit_layers[-1], folder / "whole"
    merge_segments(folder / "float32", whole, layer=layer)
    manifest = replace(read_manifest(whole), dtype="int8")
    kinds = sorted(set(IntegerOpsRegistry) - {"Attention"})
    quantize_dynamic(
        whole / SEGMENT, folder / SEGMENT, weight_type=QuantType.QInt8, op_types_to_quantize=kinds
    )
    (folder / SEGMENT).replace(whole / SEGMENT)
    write_manifest(whole, with_files(manifest, whole))
    quantised = OnnxEngine(whole, num_threads=torch.get_num_threads())
    return System(STOCK, "plain", layer, quantised, FixedPolicy(layer=layer))


class Found:
    """A comparison, at one batch size.

    Args:
        compared: what `exitwise.benchmark.compare` found.
        size: the batch size.
        name: of the data.
    """

    def __init__(self, compared: dict[str, Any], size: str, name: str) -> None:
        self.size = size
        self.systems = {each["name"]: each for each in compared["systems"]}
        self.where = f"({name}, batches of {size})"
        self.early = self.systems["int8: early exit"]
        self.plain = [each for key, each in self.systems.items() if key.startswith("int8: plain")]
        self.stock = next(key for key in self.systems if key.startswith(STOCK))

    def times(self, name: str) -> dict[str, Any]:
        """Those of a system."""
        times: dict[str, Any] = self.systems[name]["times"][self.size]
        return times

    def over(self, name: str) -> float:
        """How many times as long as int8 early exit a system takes."""
        other = float(self.times(name)["ms_per_text"])
        return other / float(self.early["times"][self.size]["ms_per_text"])

    def overhead(self) -> Claim:
        """What exits cost that nobody leaves at."""
        times = self.times("int8: all exits")
        low, high = times["speedup_interval"]
        return Claim(
            area="inference",
            claim=f"int8, all exits and nobody leaves, against the whole model {self.where}",
            value=1 / times["speedup"],
            bar=OVERHEAD_BARS.get(self.size),
            spread=(1 / high, 1 / low),
        )

    def realised(self, engine: str) -> Claim:
        """How much of the saved arithmetic is saved time."""
        times = self.times(f"{engine}: early exit")
        low, high = times["speedup_interval"]
        ideal = times["ideal_speedup"]
        return Claim(
            area="inference",
            claim=f"{engine}, speed-up of early exit over that of its arithmetic {self.where}",
            value=times["realised_share"],
            bar=0.9,
            at_least=True,
            spread=(low / ideal, high / ideal),
            details={"ideal": ideal, "realised": times["speedup"]},
        )

    def gain(self, bar: float) -> Claim:
        """Against the whole model with the same kernels."""
        ours, whole = self.early["times"][self.size], self.plain[-1]
        return Claim(
            area="inference",
            claim=f"int8, speed-up of early exit over the whole model {self.where}",
            value=ours["speedup"],
            bar=bar if self.size == "1" else None,
            at_least=True,
            spread=tuple(ours["speedup_interval"]),
            details={
                "score": self.early["score"],
                "score of the whole model": whole["score"],
                "mean layer": self.early["mean_layer"],
                "ms a text": ours["ms_per_text"],
                "ms of the whole model": self.times(whole["name"])["ms_per_text"],
            },
        )

    def gain_over_static(self) -> Claim:
        """Against the fastest model of k layers that scores as high; else the whole model."""
        rival = fastest_as_good(self.plain, self.early, self.size) or self.plain[-1]
        return Claim(
            area="inference",
            claim="int8, speed-up of early exit over the fastest static model as good "
            f"{self.where}",
            value=self.over(rival["name"]),
            bar=1.0,
            at_least=True,
            details={"layers of the static model": rival["layer"], "its score": rival["score"]},
        )

    def against(self, words: str, other: str) -> Claim:
        """Only reported."""
        return Claim(
            area="inference",
            claim=f"int8 early exit, speed-up over {words} {self.where}",
            value=self.over(other),
            details={"score of the other": self.systems[other]["score"]},
        )

    def claims(self, bar: float) -> list[Claim]:
        """All of them."""
        return [
            self.overhead(),
            self.realised("int8"),
            self.realised("torch"),
            self.gain(bar),
            self.gain_over_static(),
            self.against("the whole model in ONNX Runtime's own int8", self.stock),
            self.against("early exit in eager PyTorch", "torch: early exit"),
        ]


def main() -> None:
    """Measures and writes `results/early_exit_NAME.json` and a picture beside it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("name", help="of the results: the task")
    parser.add_argument("run", help="a calibrated run")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--task")
    parser.add_argument("--split")
    parser.add_argument("--data-dir", type=Path, default=Path("../shared/glue"))
    parser.add_argument("--metric", default="accuracy")
    parser.add_argument("--bar", type=float, default=1.5, help="of the speed-up at batch size 1")
    parser.add_argument("--rows", type=int, default=300)
    options = parser.parse_args()
    engine, folder = load_engine(options.run, "torch", "cpu")
    assert isinstance(engine, TorchEngine)
    policy = calibrated_policy(options.run, folder)
    columns = (None, None, None)
    sets = labelled_sets(
        options.data, options.task, options.split, options.data_dir, columns, engine.labels
    )
    texts = next(iter(sets.values()))
    with TemporaryDirectory() as work:
        stock = stock_int8(engine, Path(work), policy)
        with engines_of(
            engine, folder, policy, ("torch", "int8"), torch.get_num_threads()
        ) as systems:
            found = compare(
                [stock, *systems], texts, metric=options.metric, most_calls=options.rows, told=print
            )
    claims = [
        claim
        for size in found["verdict"]
        for claim in Found(found, size, options.name).claims(options.bar)
    ]
    write_claims(f"early_exit_{options.name}", claims)
    draw(found, RESULTS / f"early_exit_{options.name}.png")
    for size, advice in found["verdict"].items():
        print(f"batches of {size}: {advice}")
    print(f"onnxruntime {onnxruntime.__version__}, Python {platform.python_version()}")


if __name__ == "__main__":
    main()
