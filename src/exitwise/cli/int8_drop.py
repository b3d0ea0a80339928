"""What 8 bits cost: the score of each exit in PyTorch and in the exported folder."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from exitwise.data import TextDataset
    from exitwise.inference.torch_engine import TorchEngine


def int8_drop(
    engine: "TorchEngine", folder: Path, texts: "TextDataset", *, metric: str
) -> dict[int, tuple[float, float]]:
    """The scores in percent of each exit, before and after."""
    import numpy as np

    from exitwise.inference.onnx_engine import OnnxEngine
    from exitwise.metrics import score_exits

    exported, labels = OnnxEngine(folder), np.asarray(texts.labels)
    layers = exported.exit_layers
    before, after = (
        score_exits(each.logits(texts.texts, texts.pairs, layers=layers), layers, labels, metric)
        for each in (engine, exported)
    )
    return {layer: (before[layer]["score"], after[layer]["score"]) for layer in layers}


def print_int8_drop(found: Mapping[int, tuple[float, float]], *, metric: str, rows: int) -> None:
    """Prints a row for each exit."""
    console = Console(markup=False, highlight=False, soft_wrap=True)
    console.print(f"{metric} on {rows} rows, in PyTorch and in 8 bits", style="bold")
    table = Table("exit", box=SIMPLE_HEAD, pad_edge=False)
    for name in ("float32", "int8", "drop"):
        table.add_column(name, justify="right")
    for layer, (before, after) in found.items():
        table.add_row(str(layer), f"{before:.2f}", f"{after:.2f}", f"{before - after:+.2f}")
    console.print(table)
