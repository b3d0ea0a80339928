"""What is compared: the whole model, its first layers alone, all exits, and early exit."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from exitwise.classifier import load_engine
from exitwise.errors import ExitwiseError
from exitwise.inference import Engine
from exitwise.inference.manifest import FILE as MANIFEST
from exitwise.inference.manifest import read_manifest
from exitwise.inference.policy_file import read_policy
from exitwise.policies import ConfidencePolicy, ExitPolicy, FixedPolicy

EngineKind = Literal["torch", "onnx", "int8"]
"""Eager PyTorch, ONNX Runtime in float32, ONNX Runtime with products in 8 bits."""

SystemKind = Literal["plain", "all exits", "early exit"]


@dataclass(frozen=True)
class System:
    """One way to answer.

    Attributes:
        engine_kind: what runs the layers: an `EngineKind`, or any other name.
        kind: "plain" is a model cut after a layer, with that layer's exit and no other;
            "all exits" asks every exit and nobody leaves; "early exit" is the calibrated policy.
        layer: the deepest that may run.
        engine: the layers.
        policy: says who leaves.
    """

    engine_kind: str
    kind: SystemKind
    layer: int
    engine: Engine[Any]
    policy: ExitPolicy

    @property
    def name(self) -> str:
        """In words."""
        layers = f"{self.layer} layer{'s' if self.layer > 1 else ''}"
        what = f"plain, {layers}" if self.kind == "plain" else self.kind
        return f"{self.engine_kind}: {what}"

    @property
    def asked(self) -> tuple[int, ...]:
        """The layers whose exits are asked."""
        return (self.layer,) if self.kind == "plain" else self.engine.exit_layers


@contextmanager
def engines_of(
    model: str, kinds: tuple[EngineKind, ...], *, threads: int
) -> Iterator[list[System]]:
    """The systems of a run, exported for the time of the context; of an exported folder, its own.

    Raises:
        ExitwiseError: the model is not calibrated, or cannot be exported.
    """
    _, folder = load_engine(model, "auto", "cpu")
    policy = read_policy(folder)
    if policy is None:
        raise ExitwiseError(
            f"{model} is not calibrated, so nothing leaves early: "
            f"exitwise calibrate {model} --data FILE --max-drop 1.0"
        )
    with ExitStack() as opened:
        work = Path(opened.enter_context(TemporaryDirectory()))
        if (folder / MANIFEST).exists():
            dtype = read_manifest(folder).dtype
            kind: EngineKind = "int8" if dtype == "int8" else "onnx"
            yield onnx_systems(kind, folder, work, policy, threads=threads)
            return
        systems: list[System] = []
        for kind in kinds:
            if kind == "torch":
                systems += torch_systems(model, policy)
            else:
                exported = export_run(model, work / kind, policy, int8=kind == "int8")
                systems += onnx_systems(kind, exported, work, policy, threads=threads)
        yield systems


def torch_systems(model: str, policy: ExitPolicy) -> list[System]:
    """Eager PyTorch asks only those exits that it is told to: one engine serves all systems."""
    engine, _ = load_engine(model, "torch", "cpu")
    return systems_on("torch", engine, dict.fromkeys(engine.exit_layers, engine), policy)


def onnx_systems(
    kind: EngineKind, folder: Path, work: Path, policy: ExitPolicy, *, threads: int
) -> list[System]:
    """The segments of an exported folder, and one graph for each number of layers."""
    from exitwise.export.merged import merge_segments
    from exitwise.inference.onnx_engine import OnnxEngine

    engine = OnnxEngine(folder, num_threads=threads)
    plain: dict[int, Engine[Any]] = {}
    for layer in engine.exit_layers:
        target = work / f"{kind}_{layer}"
        merge_segments(folder, target, layer=layer)
        plain[layer] = OnnxEngine(target, num_threads=threads)
    return systems_on(kind, engine, plain, policy)


def systems_on(
    kind: EngineKind, engine: Engine[Any], plain: dict[int, Engine[Any]], policy: ExitPolicy
) -> list[System]:
    """All systems of one kind of engine, the cheapest plain one first."""
    last = engine.exit_layers[-1]
    return [
        *(
            System(kind, "plain", layer, each, FixedPolicy(layer=layer))
            for layer, each in plain.items()
        ),
        System(kind, "all exits", last, engine, ConfidencePolicy(threshold=None)),
        System(kind, "early exit", last, engine, policy),
    ]


def export_run(model: str, folder: Path, policy: ExitPolicy, *, int8: bool) -> Path:
    """Exports a run into a folder."""
    from exitwise.export.onnx import export_onnx
    from exitwise.inference.torch_engine import TorchEngine

    engine = TorchEngine.from_pretrained(model, device="cpu")
    export_onnx(engine, folder, policy=policy, int8=int8)
    return folder
