"""Cells that differ by their seed alone: what stands behind one number of a table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from exitwise.experiments.cell import Cell
from exitwise.experiments.merging import Plain
from exitwise.experiments.plan import in_order
from exitwise.experiments.store import Store
from exitwise.recipe import plain_hash


@dataclass(frozen=True)
class Repeat:
    """A recipe over seeds.

    Attributes:
        key: equal for cells that differ by their seed alone.
        name: in words.
        cells: by seed.
    """

    key: str
    name: str
    cells: Sequence[Cell]

    @property
    def task(self) -> str:
        """The task of all of them."""
        return self.cells[0].task

    def state(self, store: Store) -> str:
        """How many have ended, failed or were not run."""
        done = sum(store.has(cell.key) for cell in self.cells)
        failed = sum(store.failure(cell.key) is not None for cell in self.cells)
        missing = len(self.cells) - done - failed
        counts = {"done": done, "failed": failed, "not run": missing}
        return ", ".join(f"{count} {word}" for word, count in counts.items() if count)


def repeats(cells: Iterable[Cell]) -> dict[str, Repeat]:
    """All of them with those of their backbones, by key."""
    found: dict[str, list[Cell]] = {}
    for cell in in_order(cells):
        found.setdefault(seedless(cell), []).append(cell)
    return {
        key: Repeat(key, same[0].name.rpartition(" seed ")[0], same) for key, same in found.items()
    }


def seedless(cell: Cell) -> str:
    """The hash of what is the same with all seeds."""
    plain: Plain = {**cell.recipe, "seed": 0}
    if cell.backbone is not None:
        plain["start_from"] = seedless(cell.backbone)
    return plain_hash(plain)
