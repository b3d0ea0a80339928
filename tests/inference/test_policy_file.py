"""`policy.json`: what is in it comes back, and what is no policy is refused by one line."""

import json
from pathlib import Path

import pytest

from exitwise.errors import ExitwiseError
from exitwise.inference.policy_file import read_policy, write_policy
from exitwise.policies import ConfidencePolicy


def written(folder: Path, content: object) -> Path:
    (folder / "policy.json").write_text(json.dumps(content))
    return folder


def test_a_policy_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert read_policy(tmp_path) is None
    policy = ConfidencePolicy(threshold={1: 0.9, 2: None}, temperatures={1: 2.0})
    write_policy(tmp_path, policy)
    assert read_policy(tmp_path) == policy


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"format_version": 2, "exits": {}}, "format version 2, this exitwise reads 1"),
        ({"format_version": "1", "policy": {}}, "format version '1', this exitwise reads 1"),
        ({"format_version": True, "policy": {}}, "format version True, this exitwise reads 1"),
        ({"format_version": 1}, "is no policy: calibrate the model again"),
        ({"format_version": 1, "policy": 3}, "is no policy: calibrate the model again"),
        ({"policy": {}}, "is no policy: calibrate the model again"),
        ([], "is no policy: calibrate the model again"),
    ],
)
def test_what_is_no_policy_or_of_another_version_is_refused(
    tmp_path: Path, content: object, message: str
) -> None:
    with pytest.raises(ExitwiseError, match=message) as refused:
        read_policy(written(tmp_path, content))
    assert str(tmp_path / "policy.json") in str(refused.value)
