"""The folder in which cells are trained."""

from pathlib import Path

from exitwise.experiments.cell import Cell
from exitwise.recipe import Recipe
from exitwise.run import RunFolder
from exitwise.whole_files import remove_folder


class Runs:
    """Run folders of cells, each named by the cell's key.

    Args:
        folder: of all of them, made when the first is. However it is spelled, a run finds the
            model that it was begun on.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.hidden_states = self.folder / "hidden_states"

    def of(self, cell: Cell) -> RunFolder:
        """The run of a cell, begun or not."""
        return RunFolder(self.folder / cell.key)

    def has_model(self, cell: Cell) -> bool:
        """Whether a cell's run has ended and its model is there."""
        run = self.of(cell)
        return run.is_finished and run.model.exists()

    def keep_resumable(self, cell: Cell, recipe: Recipe) -> None:
        """Removes a run of the cell that cannot go on, so that it is begun anew.

        It may have lost its model or its recipe, or have been begun with data at another place,
        which may be other data.

        Args:
            cell: whose run it is.
            recipe: with the places of this machine.
        """
        if not self.of(cell).can_go_on(recipe):
            self.remove(cell)

    def remove(self, cell: Cell) -> None:
        """Removes the run of a cell, if there is one."""
        remove_folder(self.of(cell).path)
