from dataclasses import dataclass

import pytest

from exitwise.exits import ExitConfig, build_exit, exit_config


def test_an_unknown_kind_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"unknown exit 'mah', did you mean 'mha'"):
        exit_config({"kind": "mah"})


def test_settings_without_a_kind_are_refused() -> None:
    with pytest.raises(ValueError, match="an exit needs a kind, one of linear, mha, pooler"):
        exit_config({"width": 32})


def test_settings_that_no_exit_takes_are_refused() -> None:
    @dataclass(frozen=True, kw_only=True)
    class StrangeExitConfig(ExitConfig): ...

    with pytest.raises(TypeError, match="no exit takes the settings StrangeExitConfig"):
        build_exit(StrangeExitConfig(), encoder_width=4, num_labels=2)
