"""From the data part of a recipe to the sets of a run, all checked before training."""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

from exitwise.data.columns import Columns, check_columns, choose_columns
from exitwise.data.config import DataConfig
from exitwise.data.files import check_file, open_table
from exitwise.data.glue import load_task
from exitwise.data.hub import hub_tables
from exitwise.data.labels import name_classes, name_numbers
from exitwise.data.rows import read_labelled
from exitwise.data.split import split_off, stratified_sample
from exitwise.data.tables import Table
from exitwise.data.texts import UNLABELLED, Splits, TextDataset
from exitwise.errors import DataError

logger = logging.getLogger(__name__)

Source = Callable[[], AbstractContextManager[Table]]


def load_splits(config: DataConfig, *, seed: int) -> Splits:
    """Reads and checks all data of a run.

    Args:
        config: which data.
        seed: of the parts that are drawn.

    Raises:
        DataError: says in a line which file, row and column cannot be used, and what to do.
    """
    splits = load_task(config.task, config.data_dir) if config.task else load_own(config, seed)
    if config.train_rows is not None:
        drawn = stratified_sample(splits.train, config.train_rows, seed=seed)
        logger.info("training rows: %s", drawn.source)
        splits = replace(splits, train=drawn)
    return splits if config.metric is None else replace(splits, metric=config.metric)


def load_texts(
    path: str | Path,
    *,
    label_names: Sequence[str],
    text_column: str | None = None,
    pair_column: str | None = None,
    label_column: str | None = None,
) -> TextDataset:
    """The texts of a file, with the labels of classes that are known already.

    Labels may be the names, or numbers that count them from 0. Without a label column, and in
    rows whose label is empty or -1, the label is -1.

    Raises:
        DataError: as `load_splits`, and if a label is none of the names.
    """
    with open_table(path) as table:
        columns = choose_columns(table, text=text_column, pair=pair_column, label=label_column)
        rows = read_labelled(table, columns)
    if rows.labels is not None:
        rows = replace(rows, labels=name_numbers(rows.labels, label_names))
    return rows.dataset(tuple(label_names))


def load_own(config: DataConfig, seed: int) -> Splits:
    """The sets in a person's own files or hub data set; validation is split off if missing."""
    sources = hub_sources(config.hub) if config.hub else file_sources(config)
    train, columns, names = read_train(sources["train"], config)
    if "validation" in sources:
        validation = read_known(sources["validation"], columns, names)
        check_some_labelled(validation)
    else:
        train, validation = split_off(train, config.validation_fraction, seed=seed)
        logger.info("no validation set given: %s", validation.source)
    test = read_known(sources["test"], columns, names, may_lack=True) if "test" in sources else None
    return Splits(
        train=train,
        validation={"validation": validation},
        test=test,
        label_names=names,
        metric=config.metric or "accuracy",
    )


def file_sources(config: DataConfig) -> Mapping[str, Source]:
    """The files given, each known to exist before the first is read."""
    given = {"train": config.train, "validation": config.validation, "test": config.test}
    paths = {split: Path(path) for split, path in given.items() if path is not None}
    for path in paths.values():
        check_file(path)
    return {split: partial(open_table, path) for split, path in paths.items()}


def hub_sources(name: str) -> Mapping[str, Source]:
    """The splits of a hub data set."""
    return {split: partial(already_open, table) for split, table in hub_tables(name).items()}


def already_open(table: Table) -> AbstractContextManager[Table]:
    """A table that nobody needs to close."""
    return nullcontext(table)


def read_train(source: Source, config: DataConfig) -> tuple[TextDataset, Columns, tuple[str, ...]]:
    """The training rows, the columns they are read from, and the classes found in them."""
    with source() as table:
        columns = choose_columns(
            table, text=config.text_column, pair=config.pair_column, label=config.label_column
        )
        if columns.label is None:
            raise DataError(
                f"{table.source}: cannot tell which column holds the labels {table.listing}; "
                "name it with label_column"
            )
        rows = read_labelled(table, columns)
        assert rows.labels is not None
        names = name_classes(rows.labels, order=table.class_names.get(columns.label, ()))
    logger.info("%s: %d rows of the classes %s", rows.source, len(rows.texts), ", ".join(names))
    return rows.dataset(names), columns, names


def read_known(
    source: Source, columns: Columns, names: tuple[str, ...], *, may_lack: bool = False
) -> TextDataset:
    """Rows in the columns of the training rows; a test set may lack that of the labels."""
    with source() as table:
        if may_lack and columns.label not in table.columns:
            columns = Columns(columns.text, columns.pair)
        check_columns(table, *columns.names)
        return read_labelled(table, columns).dataset(names)


def check_some_labelled(texts: TextDataset) -> None:
    """Raises `DataError` if a validation set cannot validate anything."""
    if set(texts.labels) == {UNLABELLED}:
        raise DataError(f"{texts.source}: no row has a label, but a validation set needs labels")
