"""What is compared: the whole model, its first layers alone, all exits, and early exit."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from exitwise.errors import ExitwiseError, UnsupportedError
from exitwise.inference import Engine
from exitwise.inference.manifest import read_manifest
from exitwise.inference.policy_file import read_policy
from exitwise.inference.torch_engine import TorchEngine
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


def calibrated_policy(model: str, folder: Path) -> ExitPolicy:
    """The policy of a model whose files are in a folder.

    Raises:
        ExitwiseError: it is not calibrated.
    """
    policy = read_policy(folder)
    if policy is None:
        raise ExitwiseError(
            f"{model} is not calibrated, so nothing leaves early: "
            f"exitwise calibrate {model} --data FILE --max-drop 1.0"
        )
    return policy


@contextmanager
def engines_of(
    engine: Engine[Any], folder: Path, policy: ExitPolicy, kinds: Sequence[EngineKind], threads: int
) -> Iterator[list[System]]:
    """The systems of a run, exported for the time of the context; of an exported folder, its own.

    Args:
        engine: of the run or the exported folder, on the CPU.
        folder: where its files are.
        policy: of early exit.
        kinds: of engines for a run.
        threads: of a graph.

    Raises:
        UnsupportedError: the model cannot be exported.
    """
    with TemporaryDirectory() as name:
        work = Path(name)
        if not isinstance(engine, TorchEngine):
            kind: EngineKind = "int8" if read_manifest(folder).dtype == "int8" else "onnx"
            yield onnx_systems(kind, folder, work, policy, threads=threads)
            return
        systems: list[System] = []
        for kind in kinds:
            if kind == "torch":
                # Eager PyTorch asks only the exits it is told to: one engine serves all systems.
                plain = dict.fromkeys(engine.exit_layers, engine)
                systems += systems_on(kind, engine, plain, policy)
            else:
                from exitwise.export.onnx import export_onnx

                try:
                    export_onnx(engine, work / kind, policy=policy, int8=kind == "int8")
                except UnsupportedError as error:
                    raise UnsupportedError(f"{error}. --engines torch measures it") from None
                systems += onnx_systems(kind, work / kind, work, policy, threads=threads)
        yield systems


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
    kind: EngineKind, engine: Engine[Any], plain: Mapping[int, Engine[Any]], policy: ExitPolicy
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
