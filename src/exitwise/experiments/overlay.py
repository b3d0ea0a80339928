"""The scale at which tables are run: encoders, seeds, epochs, rows."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from exitwise.compression import Compression
from exitwise.errors import ExitwiseError, RecipeError
from exitwise.experiments.table import Row, read_named
from exitwise.regimes import Regime


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
        by_task: changes by task.
        without: recipes that these encoders cannot be trained by; their rows are left out.
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
    by_task: dict[str, dict[str, object]] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    angle_batches: int = 200

    def has(self, table: str, task: str, seed: int) -> bool:
        """Whether a table is run for a task with a seed."""
        return task in self.tasks_of.get(table, self.tasks) and seed in self.seeds_for(task)

    def can(self, row: Row) -> bool:
        """Whether a row is run at this scale."""
        return row.encoder in self.encoders and row.recipe not in self.without

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


def check_names(
    overlay: Overlay, name: str, tables: Collection[str], recipes: Collection[str]
) -> None:
    """Whether all that an overlay changes is there: a misspelt name would change nothing.

    Args:
        overlay: the scale.
        name: its own.
        tables: the names of all tables.
        recipes: the names of all recipes.

    Raises:
        RecipeError: names what is not.
    """
    known: dict[str, tuple[Iterable[str], Collection[str]]] = {
        "tasks_of": (overlay.tasks_of, tables),
        "seeds_of": (overlay.seeds_of, overlay.tasks),
        "by_task": (overlay.by_task, overlay.tasks),
        "regimes": (overlay.regimes, Regime.registry),
        "compressions": (overlay.compressions, Compression.registry),
        "without": (overlay.without, recipes),
    }
    for field_name, (names, there) in known.items():
        for each in names:
            if each not in there:
                raise RecipeError(
                    f"overlay {name}: {field_name} names {each!r}, there are: {', '.join(there)}"
                )
