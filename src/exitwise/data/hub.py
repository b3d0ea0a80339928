"""Data sets of the hub as tables, through `datasets`."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from exitwise.data.tables import Record, Table, cell
from exitwise.errors import DataError

if TYPE_CHECKING:
    from datasets import Dataset

ROWS_AT_ONCE = 1024
NAME = re.compile(r"(?P<path>.+?)(:(?P<config>[\w.-]+))?")
SPLIT_NAMES = {
    "train": ("train",),
    "validation": ("validation", "valid", "val", "dev"),
    "test": ("test",),
}
"""What splits are called on the hub, the usual name first."""


def hub_tables(name: str) -> dict[str, Table]:
    """The splits of a data set by our names: `train`, and what there is of the others.

    Args:
        name: as `owner/name` or `owner/name:config`, or a local folder that `datasets` reads.

    Raises:
        DataError: it cannot be loaded, or has no training split.
    """
    found = load_hub(name)
    tables = {
        split: hub_table(found[theirs], f"{name}/{theirs}")
        for split, names in SPLIT_NAMES.items()
        for theirs in [theirs for theirs in names if theirs in found][:1]
    }
    if "train" not in tables:
        raise DataError(f"{name} has no split train (its splits: {', '.join(found)})")
    return tables


def load_hub(name: str) -> "dict[str, Dataset]":
    """All splits of a data set as `datasets` names them."""
    import datasets

    match = NAME.fullmatch(name)
    if match is None:
        raise DataError("the name of a hub data set is empty")
    try:
        return dict(datasets.load_dataset(match["path"], match["config"]))
    except (OSError, RuntimeError, ValueError, datasets.exceptions.DatasetsError) as error:
        reason = " ".join(str(error).split())
        raise DataError(f"cannot load the data set {name}: {reason}") from error


def hub_table(dataset: "Dataset", source: str) -> Table:
    """A split; numbers of classes have names where the hub gives them."""
    names = {
        column: tuple(feature.names)
        for column, feature in dataset.features.items()
        if hasattr(feature, "names")
    }
    return Table(
        source=source,
        columns=tuple(dataset.column_names),
        records=lambda columns: hub_records(dataset, columns),
        class_names=names,
    )


def hub_records(dataset: "Dataset", columns: Sequence[str]) -> Iterator[Record]:
    """The rows, counted from 1."""
    number = 0
    for batch in dataset.select_columns(list(columns)).iter(batch_size=ROWS_AT_ONCE):
        for values in zip(*(batch[column] for column in columns), strict=True):
            number += 1
            yield Record(number, None, dict(zip(columns, map(cell, values), strict=True)))
