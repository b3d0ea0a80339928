"""A table or figure of the paper as data: rows that say only what they change.

experiments/tables/table2.toml      what is compared, the paper's numbers and its claims
experiments/recipes/acl_cl.toml     how a system is trained
experiments/overlays/small.toml     at which scale
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

from exitwise.errors import ExitwiseError, RecipeError
from exitwise.experiments.claims import Claim, task_of
from exitwise.recipe import from_plain, read_toml

T = TypeVar("T")
Shows = Literal["scores", "layer_scores", "angles", "embeddings"]


@dataclass(frozen=True, kw_only=True)
class Row:
    """A system of a table.

    Attributes:
        name: as the paper prints it.
        encoder: which of the overlay's encoders.
        recipe: the file in `recipes` that says how the system is trained.
        set: what it changes in that recipe. `"$half"` and `"$quarter"` stand for so many of the
            encoder's layers.
        backbone: the recipe of the finished model that it starts from, with the same data and
            seed; trained once for all rows that share it.
        backbone_set: what is changed in the backbone's recipe.
        score: what of a run stands in the table: the exit of its last layer, the average of all
            exits, or the exit in the middle or at a quarter of the layers.
        group: rows of a table may be in groups.
        paper: the paper's numbers, by column.
    """

    name: str
    encoder: str
    recipe: str
    set: dict[str, object] = field(default_factory=dict)
    backbone: str | None = None
    backbone_set: dict[str, object] = field(default_factory=dict)
    score: Literal["last", "average", "half", "quarter"] = "last"
    group: str = ""
    paper: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Table:
    """Systems by tasks.

    Attributes:
        title: what it shows.
        source: where it stands in the paper.
        shows: scores; scores of every layer; angles between the gradients of SCL and
            cross-entropy in the finished model; embeddings in two dimensions.
        columns: the tasks. A second validation set stands behind a colon: `mnli:mismatched`.
        rows: the systems.
        claims: what the paper says of them.
        note: what a reader must know.
    """

    title: str
    source: str
    shows: Shows = "scores"
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    claims: tuple[Claim, ...] = ()
    note: str = ""

    def __post_init__(self) -> None:
        names = [row.name for row in self.rows]
        double = sorted({name for name in names if names.count(name) > 1})
        if double:
            raise ValueError(f"each row needs a name of its own, found twice: {', '.join(double)}")
        unknown = sorted({key for row in self.rows for key in row.paper} - set(self.columns))
        if unknown:
            raise ValueError(f"the paper's numbers name no column of the table: {unknown}")

        missing = sorted({row for claim in self.claims for row in claim.rows} - set(names))
        if missing:
            raise ValueError(f"a claim speaks of a row that the table lacks: {missing[0]}")

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks of the columns, each once."""
        return tuple(dict.fromkeys(map(task_of, self.columns)))


def read_tables(folder: Path) -> dict[str, Table]:
    """All tables of `folder/tables`, by name."""
    files = sorted((folder / "tables").glob("*.toml"))
    if not files:
        raise ExitwiseError(
            f"{folder} has no tables/*.toml: run this in a checkout of exitwise, or name the "
            "folder of your experiments with --experiments"
        )
    return {file.stem: read_named(Table, file) for file in files}


def read_named(cls: type[T], file: Path) -> T:
    """The content of a TOML file; what is wrong with it is told with its name."""
    try:
        return from_plain(cls, read_toml(file))
    except RecipeError as error:
        raise RecipeError(f"{file}: {error}") from error
