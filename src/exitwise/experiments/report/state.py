"""What a report is of: the tables at a scale, their results, and what is found once for all."""

from collections.abc import Mapping, Sequence
from functools import cached_property

from exitwise.experiments.cell import Cell
from exitwise.experiments.plan import Experiments, Place, in_order
from exitwise.experiments.report.commands import Commands
from exitwise.experiments.report.repeats import Repeat, repeats, seedless
from exitwise.experiments.store import Result, Store


class State:
    """Experiments with their results.

    Args:
        experiments: the tables at one scale.
        store: the results.
        commands: how they are made.
    """

    def __init__(self, experiments: Experiments, store: Store, commands: Commands) -> None:
        self.experiments = experiments
        self.store = store
        self.commands = commands

    @cached_property
    def places(self) -> Sequence[Place]:
        """Every run of every row."""
        return list(self.experiments.places())

    @cached_property
    def cells(self) -> Sequence[Cell]:
        """All that the tables need, backbones too, each once."""
        return in_order(place.cell for place in self.places)

    @cached_property
    def repeats(self) -> Mapping[str, Repeat]:
        """The same by recipe."""
        return repeats(place.cell for place in self.places)

    @cached_property
    def behind(self) -> Mapping[tuple[str, str, str], Repeat]:
        """What stands behind a number, by table, row and task."""
        return {
            (place.table, place.row.name, place.cell.task): self.repeats[seedless(place.cell)]
            for place in self.places
        }

    @cached_property
    def results(self) -> Mapping[str, Result]:
        """Of all cells that have ended, by key."""
        return {
            cell.key: self.store.read(cell.key) for cell in self.cells if self.store.has(cell.key)
        }

    @cached_property
    def failures(self) -> Mapping[str, Result]:
        """Of all cells that did not end, by key."""
        found = {cell.key: self.store.failure(cell.key) for cell in self.cells}
        return {key: failure for key, failure in found.items() if failure is not None}

    @cached_property
    def failed_observations(self) -> Mapping[tuple[str, str], Result]:
        """What could not be looked up in cells that have ended, by key and observation."""
        parts = {(each.cell.key, each.observation): None for each in self.places}
        found = {
            (key, observation): self.store.failure(key, observation)
            for key, observation in parts
            if observation is not None
        }
        return {part: failure for part, failure in found.items() if failure is not None}

    @cached_property
    def strangers(self) -> Sequence[str]:
        """Results in the folder that belong to no cell: of recipes that were changed since."""
        keys = {cell.key for cell in self.cells}
        found = {path.name.partition(".")[0] for path in self.store.folder.glob("*.json")}
        return sorted(name for name in found if name.partition("-")[0] not in keys)

    def repeat_commands(self) -> dict[str, str]:
        """How each recipe that stands in a table is run again, by its key."""
        found: dict[str, str] = {}
        for (table, _, _), repeat in self.behind.items():
            if repeat.key not in found:
                found[repeat.key] = self.commands.again(table, repeat.cells)
        return found
