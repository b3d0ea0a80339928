"""From the data part of a recipe to the sets of a run."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from exitwise.data.config import DataConfig
from exitwise.data.glue import load_task
from exitwise.data.texts import Splits, TextDataset


def load_splits(config: DataConfig, *, seed: int) -> Splits:
    """Reads and checks all data of a run."""
    assert config.task is not None
    splits = load_task(config.task, Path(config.data_dir) if config.data_dir else None)
    if config.train_rows is not None:
        splits = replace(splits, train=stratified_sample(splits.train, config.train_rows, seed))
    return splits if config.metric is None else replace(splits, metric=config.metric)


def stratified_sample(texts: TextDataset, num_rows: int, seed: int) -> TextDataset:
    """So many rows, drawn by seed, each class with its share; in their former order."""
    if num_rows >= len(texts):
        return texts
    random = np.random.default_rng(seed)
    labels = np.asarray(texts.labels)
    order = random.permutation(len(labels))
    # Each class's rows in random order at evenly spaced places: any prefix has its share.
    places = np.empty(len(labels))
    for label in np.unique(labels):
        rows = order[labels[order] == label]
        places[rows] = (np.arange(len(rows)) + random.random()) / len(rows)
    chosen = np.sort(np.argsort(places, kind="stable")[:num_rows])
    return texts.select(chosen.tolist(), note=f"{num_rows} rows, seed {seed}")
