"""A cell: one recipe to train for one task and seed, known by what it is."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from exitwise.errors import RecipeError
from exitwise.experiments.merging import Plain, filled, merged
from exitwise.experiments.overlay import EncoderSource, Overlay
from exitwise.experiments.table import Row
from exitwise.recipe import Recipe, from_plain, plain_hash, to_plain

CELL = "cell:"
"""How a recipe names the model of another cell until it is known where that lies."""


@dataclass(frozen=True)
class Cell:
    """What is trained.

    Attributes:
        name: in words, for people.
        recipe: all defaults resolved; without the folder of the data, and with
            `start_from = "cell:KEY"` for the model of another cell. Nothing in it depends on the
            machine, so that results can be shared.
        backbone: the cell that it starts from.
    """

    name: str
    recipe: Plain
    backbone: "Cell | None" = None

    @cached_property
    def key(self) -> str:
        """Twelve digits that are equal for equal cells."""
        return plain_hash(self.recipe)

    @property
    def task(self) -> str:
        """The task of the data."""
        data = self.recipe["data"]
        assert isinstance(data, Mapping)
        return str(data["task"])

    @property
    def seed(self) -> int:
        """The seed of the run."""
        seed = self.recipe["seed"]
        assert isinstance(seed, int)
        return seed

    def placed(self, runs: Path, data_dir: str | None) -> Recipe:
        """The recipe as it is run on this machine.

        Args:
            runs: the folder where cells are trained, each in a folder named by its key.
            data_dir: the folder of the tasks' files; `None` for the hub.
        """
        plain = merged(self.recipe)
        if self.backbone is not None:
            plain["start_from"] = str(runs / self.backbone.key)
        if data_dir is not None:
            plain = merged(plain, {"data": {"data_dir": data_dir}})
        return from_plain(Recipe, plain)


class CellMaker:
    """From rows to cells, at one scale.

    Args:
        overlay: the scale.
        recipes: those of the experiments, by name.
    """

    def __init__(self, overlay: Overlay, recipes: Mapping[str, Plain]) -> None:
        self._overlay = overlay
        self._recipes = recipes
        self._resolved: dict[tuple[object, ...], Plain] = {}

    def cell(self, row: Row, task: str, seed: int) -> Cell:
        """The cell of a row, with that of its backbone."""
        encoder = self._overlay.encoders[row.encoder]
        if row.backbone is None:
            return self._make(row.recipe, row.set, encoder, task, seed, None)
        backbone = self._make(row.backbone, row.backbone_set, encoder, task, seed, None)
        return self._make(row.recipe, row.set, encoder, task, seed, backbone)

    def _make(
        self,
        name: str,
        changes: Plain,
        encoder: EncoderSource,
        task: str,
        seed: int,
        backbone: Cell | None,
    ) -> Cell:
        starts: Plain = {"start_from": CELL} if backbone else {"encoder": encoder.path}
        inputs = (name, repr(changes), encoder, task, backbone is None)
        if inputs not in self._resolved:  # once for all seeds: it takes milliseconds
            self._resolved[inputs] = self._resolve(name, changes, encoder, task, starts)
        recipe = merged(self._resolved[inputs], {"seed": seed})
        if backbone is not None:
            recipe["start_from"] = CELL + backbone.key
        start = "" if backbone is None else f" on {backbone.name.partition(' ')[0]}"
        return Cell(f"{name}{start} {in_words(changes)}{task} seed {seed}", recipe, backbone)

    def _resolve(
        self, name: str, changes: Plain, encoder: EncoderSource, task: str, starts: Plain
    ) -> Plain:
        """A recipe under the overlay, then the row's changes: the row has the last word."""
        if name not in self._recipes:
            known = ", ".join(sorted(self._recipes))
            raise RecipeError(f"no recipe {name!r} among those of the experiments ({known})")
        written, overlay = self._recipes[name], self._overlay
        plain = merged(
            written,
            overlay.recipe,
            of_kind("regime", written, overlay.regimes),
            of_kind("compression", written, overlay.compressions),
            overlay.by_task.get(task, {}),
            changes,
            starts,
            {"data": {"task": task}},
        )
        filled_in = filled(plain, encoder.variables)
        assert isinstance(filled_in, dict)
        return to_plain(from_plain(Recipe, filled_in))


def of_kind(
    field: str, recipe: Mapping[str, object], changes: Mapping[str, Plain]
) -> dict[str, object]:
    """The overlay's changes of a recipe's regime or compression."""
    table = recipe.get(field)
    kind = table.get("kind") if isinstance(table, Mapping) else table
    found = changes.get(str(kind))
    return {} if found is None else {field: {"kind": kind, **found}}


def in_words(changes: Mapping[str, object]) -> str:
    """Changes of a recipe, for a cell's name.

    >>> in_words({"regime": {"objective": {"weight": 0.1}}})
    'weight=0.1 '
    """
    words = ""
    for key, value in changes.items():
        words += in_words(value) if isinstance(value, Mapping) else f"{key}={value} "
    return words
