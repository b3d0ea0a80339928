"""The scale at which tables are run: encoders, seeds, epochs, rows."""

from dataclasses import dataclass, field
from pathlib import Path

from exitwise.errors import ExitwiseError
from exitwise.experiments.table import read_named


@dataclass(frozen=True, kw_only=True)
class EncoderSource:
    """What stands for one of the paper's encoders.

    Attributes:
        path: a folder or hub id.
        layers: M.
        note: what a reader must know of it.
    """

    path: str
    layers: int
    note: str = ""

    @property
    def variables(self) -> dict[str, object]:
        """What rows may say instead of numbers of layers."""
        return {"half": self.layers // 2, "quarter": max(1, self.layers // 4)}


@dataclass(frozen=True, kw_only=True)
class Overlay:
    """Laid over every recipe.

    Attributes:
        note: how this scale differs from the paper's.
        encoders: by the names that rows use. A row whose encoder is not there is left out.
        tasks: which tasks are run, in their order.
        tasks_of: fewer tasks for single tables.
        seeds: how often.
        seeds_of: other seeds for single tasks.
        recipe: changes of all recipes.
        regimes: changes by kind of the regime.
        compressions: changes by kind of the compression.
        data: changes by task.
        angle_batches: of so many batches the angle of gradients is looked up in a finished model.
    """

    note: str
    encoders: dict[str, EncoderSource]
    tasks: tuple[str, ...]
    seeds: tuple[int, ...]
    tasks_of: dict[str, tuple[str, ...]] = field(default_factory=dict)
    seeds_of: dict[str, tuple[int, ...]] = field(default_factory=dict)
    recipe: dict[str, object] = field(default_factory=dict)
    regimes: dict[str, dict[str, object]] = field(default_factory=dict)
    compressions: dict[str, dict[str, object]] = field(default_factory=dict)
    data: dict[str, dict[str, object]] = field(default_factory=dict)
    angle_batches: int = 200

    def has(self, table: str, task: str, seed: int) -> bool:
        """Whether a table is run for a task with a seed."""
        return task in self.tasks_of.get(table, self.tasks) and seed in self.seeds_for(task)

    def seeds_for(self, task: str) -> tuple[int, ...]:
        """The seeds of a task."""
        return self.seeds_of.get(task, self.seeds)


def read_overlay(folder: Path, name: str) -> Overlay:
    """`folder/overlays/NAME.toml`."""
    file = folder / "overlays" / f"{name}.toml"
    if not file.exists():
        known = sorted(path.stem for path in file.parent.glob("*.toml"))
        raise ExitwiseError(
            f"no overlay {name!r} in {file.parent} (found: {', '.join(known) or 'none'})"
        )
    return read_named(Overlay, file)
