"""Results that no training made: plausible, and always the same."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from exitwise.experiments import Cell, Experiments, Store, in_order

from .conftest import EXPERIMENTS

MACHINE = {
    "exitwise": "0.1.0",
    "commit": "abc123def456",
    "python": "3.11.7",
    "packages": {"torch": "2.13.0", "transformers": "5.24.0"},
    "platform": "Linux",
    "processor": "EPYC <7>",
    "cores": 2,
    "threads": 2,
    "accelerator": None,
}
ROWS = 40


def small(*tables: str, tasks: tuple[str, ...] = ("mrpc", "rte"), seeds: int = 2) -> Experiments:
    """Real tables at the scale `small`, with fewer tasks and seeds; all of them by default."""
    read = Experiments.read(EXPERIMENTS, "small")
    chosen = replace(read, tables=read.chosen(tables or ("all",)))
    return chosen.narrowed(encoders={}, tasks=tasks, seeds=range(1, seeds + 1))


def fill(store: Store, experiments: Experiments) -> None:
    """Writes a result for every cell, and what is looked up in it."""
    places = list(experiments.places())
    for cell in in_order(place.cell for place in places):
        store.write(cell.key, result(cell))
    for place in places:
        random = np.random.default_rng(int(place.cell.key, 16))
        if place.observation == "angles":
            degrees = random.normal(93, 5, 60).round(3).tolist()
            store.write(place.cell.key, {"angles": degrees, "undefined": 0, "batch": 32}, "angles")
        elif place.observation is not None:
            store.write(place.cell.key, embedded(random), place.observation)


def score(cell: Cell, layer: int) -> float:
    """Deeper is better, and each cell is a little different."""
    noise = (int(cell.key, 16) % 1000) / 500 - 1
    return 76 + 8 * (1 - math.exp(-layer / 2)) + noise


def result(cell: Cell) -> dict[str, Any]:
    """As `Runner` stores it, less what no page reads."""
    layers = layers_of(cell)
    random = np.random.default_rng(int(cell.key, 16))
    exits = {str(layer): {"score": score(cell, layer)} for layer in layers}
    regime = table_of(cell, "regime")
    stage = "exits" if regime.get("kind") == "exits" else "backbone"
    has_gate = regime.get("objective", {}).get("gate", "none") != "none"
    shares = (0.8 + 0.1 * random.uniform(-1, 1, 20)).round(4).tolist()
    return {
        "recipe": cell.recipe,
        "recipe_hash": "0" * 12,
        "data": {"labels": ["not_equivalent", "<equivalent>"], "metric": "f1_accuracy"},
        "scores": {"validation": {"exits": exits, "constant": {}, "labelled": ROWS}},
        "gates": {stage: gate_groups(shares) if has_gate else {}},
        "environment": MACHINE,
        "seconds": {"all": 100.0},
        "cell": cell.key,
        "name": cell.name,
        "labels": "01" * (ROWS // 2),
        "answers": dict.fromkeys(exits, "01" * (ROWS // 2)),
        "geometry": {layer: geometry(random, int(layer)) for layer in exits},
        "epochs": [{"stage": stage, "epoch": 1.0}],
        "open_gates": {stage: shares} if has_gate else {},
    }


def layers_of(cell: Cell) -> list[int]:
    """Of the exits: all after two stages, else the last."""
    if table_of(cell, "regime").get("kind") in ("exits", "joint", "alternating"):
        return [1, 2, 3, 4, 5, 6]
    kept = table_of(cell, "compression").get("keep")
    return [int(kept or str(cell.recipe.get("num_layers", 6)))]


def table_of(cell: Cell, name: str) -> dict[str, Any]:
    """A part of the recipe; empty where it is left out."""
    found = cell.recipe.get(name)
    return found if isinstance(found, dict) else {}


def gate_groups(shares: list[float]) -> dict[str, Any]:
    """What the gate of a stage decided."""
    share = float(np.mean(shares))
    return {
        "all": {"decisions": 100, "mean_angle": 85.0, "share_above_90": 0.2, "share_open": share}
    }


def geometry(random: np.random.Generator, layer: int) -> dict[str, float]:
    """Nearer to the own label in deeper layers."""
    noise = random.uniform(-0.02, 0.02)
    return {
        "positive_similarity": 0.5,
        "negative_similarity": 0.1,
        "alignment": round(1.2 - 0.1 * layer + noise, 5),
        "uniformity": round(-0.4 - 0.2 * layer + noise, 5),
        "own_label_similarity": round(0.2 + 0.1 * layer + noise, 5),
        "last_label_similarity": round(0.1 + 0.1 * layer + noise, 5),
    }


def embedded(random: np.random.Generator) -> dict[str, Any]:
    """Two clusters."""
    labels = "01" * (ROWS // 2)
    centres = np.array([[-20.0, 0.0], [20.0, 5.0]])
    samples = centres[[int(label) for label in labels]] + random.normal(0, 6, (ROWS, 2))
    return {
        "layer": 1,
        "labels": labels,
        "samples": samples.round(2).tolist(),
        "label_embeddings": centres.tolist(),
    }
