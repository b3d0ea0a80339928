"""Which cells tables need, in the order in which they are best run."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from exitwise.errors import ExitwiseError
from exitwise.experiments.cell import Cell, CellMaker
from exitwise.experiments.merging import Plain
from exitwise.experiments.overlay import EncoderSource, Overlay, check_names, read_overlay
from exitwise.experiments.sources import num_layers_of
from exitwise.experiments.table import Row, Table, read_tables
from exitwise.recipe import read_toml


@dataclass(frozen=True)
class Place:
    """Where a cell's result stands: a row of a table, for one task and seed.

    Attributes:
        table: its name.
        row: the system.
        cell: what is trained for it.
        observation: what has to be looked up in the finished model, for what the table shows
            beyond scores.
    """

    table: str
    row: Row
    cell: Cell
    observation: str | None


@dataclass(frozen=True)
class Experiments:
    """The tables of a folder at one scale.

    Attributes:
        tables: by name.
        overlay: the scale.
        recipes: how systems are trained, by name.
    """

    tables: Mapping[str, Table]
    overlay: Overlay
    recipes: Mapping[str, Plain]

    @classmethod
    def read(cls, folder: Path, overlay: str) -> "Experiments":
        """Those of `folder/tables`, `folder/recipes` and `folder/overlays/OVERLAY.toml`."""
        recipes = {
            file.stem: read_toml(file) for file in sorted((folder / "recipes").glob("*.toml"))
        }
        tables, scale = read_tables(folder), read_overlay(folder, overlay)
        check_names(scale, overlay, tables, recipes)
        return cls(tables, scale, recipes)

    def narrowed(
        self,
        *,
        encoders: Mapping[str, str],
        tasks: Collection[str] | None = None,
        seeds: Collection[int] | None = None,
    ) -> "Experiments":
        """With other encoders, or fewer tasks or seeds.

        Args:
            encoders: paths in place of those of the overlay, by name; with their own depth.
            tasks: of the overlay's.
            seeds: of the overlay's.
        """
        overlay = self.overlay
        check_known("encoder", encoders, overlay.encoders)
        check_known("task", tasks or (), overlay.tasks)
        check_known("seed", seeds or (), self.all_seeds())
        kept = [task for task in overlay.tasks if tasks is None or task in tasks]
        changed = replace(
            overlay,
            encoders={
                name: other_encoder(source, encoders.get(name, source.path))
                for name, source in overlay.encoders.items()
            },
            tasks=tuple(kept),
            seeds_of={
                task: tuple(s for s in overlay.seeds_for(task) if seeds is None or s in seeds)
                for task in kept
            },
        )
        return replace(self, overlay=changed)

    def chosen(self, names: Collection[str]) -> dict[str, Table]:
        """Some of the tables; all of them by the name `all`."""
        if "all" in names:
            return dict(self.tables)
        unknown = sorted(set(names) - set(self.tables))
        if unknown:
            raise ExitwiseError(
                f"no table {unknown[0]!r} (there are: {', '.join(self.tables)}, or all)"
            )
        return {name: table for name, table in self.tables.items() if name in names}

    def check_runs(self, names: Collection[str]) -> None:
        """Whether some tables have anything to run.

        Raises:
            ExitwiseError: they are of other tasks than this scale, or of other encoders.
        """
        if not any(True for _ in self.places(names)):
            wanted = dict.fromkeys(t for table in self.chosen(names).values() for t in table.tasks)
            raise ExitwiseError(
                f"nothing would be run: {', '.join(names)} has the tasks {', '.join(wanted)}, "
                f"here there are {', '.join(self.overlay.tasks)}"
            )

    def places(self, names: Collection[str] = ("all",)) -> Iterator[Place]:
        """Every run of every row: seed by seed and task by task, so that one may stop early."""
        maker = CellMaker(self.overlay, self.recipes)
        tables = self.chosen(names)
        for seed in self.all_seeds():
            for task in self.overlay.tasks:
                for name, table in tables.items():
                    if task not in table.tasks or not self.overlay.has(name, task, seed):
                        continue
                    for row in table.rows:
                        if self.overlay.can(row):
                            cell = maker.cell(row, task, seed)
                            yield Place(name, row, cell, self.observation(table, row))

    def observation(self, table: Table, row: Row) -> str | None:
        """By its name in the store: `angles`, or `embeddings-3` of the exit at a quarter."""
        if table.shows == "embeddings":
            return f"embeddings-{self.overlay.encoders[row.encoder].variables['quarter']}"
        return "angles" if table.shows == "angles" else None

    def all_seeds(self) -> list[int]:
        """The seeds of all tasks, each once."""
        return sorted(
            {seed for task in self.overlay.tasks for seed in self.overlay.seeds_for(task)}
        )


def other_encoder(source: EncoderSource, path: str) -> EncoderSource:
    """What stands for an encoder at a path, which need not be as deep."""
    if path == source.path:
        return source
    return replace(source, path=path, layers=num_layers_of(path))


def check_known(kind: str, names: Iterable[object], known: Collection[object]) -> None:
    """Whether an overlay has what is asked for."""
    for name in names:
        if name not in known:
            there = ", ".join(map(str, known))
            raise ExitwiseError(f"the overlay has no {kind} {name} (it has {there})")


def in_order(cells: Iterable[Cell]) -> list[Cell]:
    """Each cell once, by seed and task; those of one backbone follow each other.

    A backbone comes before what starts from it, and what starts from nothing before both.
    """
    ordered: dict[str, Cell] = {}
    for (_, _), group in groupby(cells, key=lambda cell: (cell.seed, cell.task)):
        members = list(group)
        roots = [cell.backbone or cell for cell in members]
        by_backbone = {root.key: root for root in roots}
        for root in by_backbone.values():
            ordered.setdefault(root.key, root)
        for root in by_backbone.values():
            for cell in members:
                if cell.backbone is not None and cell.backbone.key == root.key:
                    ordered.setdefault(cell.key, cell)
    return list(ordered.values())
