"""The commands that make results: first, and again."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from shlex import join

from exitwise.experiments.cell import Cell


@dataclass(frozen=True)
class Commands:
    """`exitwise reproduce` with the options of a report.

    Attributes:
        overlay: the name of the scale.
        folder: of the experiments.
        results: where the results lie, if elsewhere than by default.
        encoders: `NAME=PATH`, in place of the overlay's.
    """

    overlay: str
    folder: str = "experiments"
    results: str | None = None
    encoders: tuple[str, ...] = ()

    def go_on(self, tables: Sequence[str], *, retry: bool = False) -> str:
        """Runs what is missing of some tables, and again what has failed if that is asked for.

        >>> Commands("small").go_on(["table2"])
        'exitwise reproduce table2 --overlay small --data-dir GLUE'
        """
        where = [] if self.results is None else ["--results", self.results]
        return join([*self._start(tables), *where, *(["--retry"] if retry else [])])

    def again(self, table: str, cells: Iterable[Cell] = ()) -> str:
        """Runs a table, or some cells of it, into a folder of its own: what is there stays.

        >>> Commands("small").again("table2")
        'exitwise reproduce table2 --overlay small --data-dir GLUE --results again/results --runs
        again/runs'
        """
        some = list(cells)
        tasks = ",".join(dict.fromkeys(cell.task for cell in some))
        seeds = ",".join(dict.fromkeys(str(cell.seed) for cell in some))
        narrowed = ["--tasks", tasks, "--seeds", seeds] if some else []
        apart = ["--results", "again/results", "--runs", "again/runs"]
        return join([*self._start([table]), *narrowed, *apart])

    def _start(self, tables: Sequence[str]) -> list[str]:
        elsewhere = [] if self.folder == "experiments" else ["--experiments", self.folder]
        named = ["exitwise", "reproduce", *tables, "--overlay", self.overlay]
        others = [word for pair in self.encoders for word in ("--encoder", pair)]
        return [*named, "--data-dir", "GLUE", *elsewhere, *others]
