import dataclasses
from typing import get_args

import pytest

from exitwise.data import DataConfig


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "give a task, a train file or a hub data set, found none"),
        ({"task": "rte", "hub": "a/b"}, "a hub data set, found task and hub"),
        ({"train": "a.csv", "hub": "a/b"}, "a hub data set, found train and hub"),
        ({"validation": "a.csv"}, "a hub data set, found none"),
        ({"task": "stsb"}, "task must be one of cola, .*, found 'stsb'"),
        ({"task": "rte", "test": "a.csv"}, "test is a file beside a train file, not beside a task"),
        ({"hub": "a/b", "validation": "a.csv"}, "validation is a file beside a train file"),
        ({"train": "a.csv", "data_dir": "b"}, "data_dir holds the files of a task, but no task"),
        ({"task": "rte", "label_column": "a"}, "label_column is not for a task"),
        ({"task": "rte", "metric": "bleu"}, "metric must be one of accuracy, .*, found 'bleu'"),
        ({"task": "rte", "max_length": 2}, "max_length must be at least 3, found 2"),
        ({"task": "rte", "train_rows": 1}, "train_rows must be at least 2, found 1"),
        ({"train": "a.csv", "validation_fraction": 1.0}, "between 0 and 1, found 1.0"),
        ({"train": "a.csv", "validation_fraction": 0.0}, "between 0 and 1, found 0.0"),
    ],
)
def test_settings_that_do_not_fit_are_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DataConfig(**given)


@pytest.mark.parametrize("given", [{"task": "mnli"}, {"train": "a.csv"}, {"hub": "a/b:c"}])
def test_one_source_is_enough(given: dict[str, str]) -> None:
    config = DataConfig(**given)
    assert (config.max_length, config.validation_fraction) == (128, 0.1)
    assert not config.balanced_sampling


def test_settings_are_plain_values_that_a_recipe_can_hold() -> None:
    plain = {str, int, float, bool, type(None)}
    fields = dataclasses.fields(DataConfig)
    assert len(fields) == 14
    assert all(set(get_args(f.type) or (f.type,)) <= plain for f in fields)
