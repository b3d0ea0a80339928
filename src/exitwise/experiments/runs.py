"""The folder in which cells are trained."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from exitwise.errors import ExitwiseError
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

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keeps every other runner out of the folder; a kill lets them in again.

        Raises:
            ExitwiseError: another one is at work there.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            held = FileLock(self.folder / "reproduce.lock").acquire(timeout=0)
        except Timeout:
            raise ExitwiseError(
                f"another exitwise reproduce is at work in {self.folder}: wait for its end, or "
                "name another folder with --runs"
            ) from None
        with held:
            yield

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
