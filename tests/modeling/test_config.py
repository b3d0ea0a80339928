import json
from pathlib import Path
from typing import Any

import pytest
from transformers import BertConfig

from exitwise.errors import UnsupportedError
from exitwise.exits import LinearExitConfig, MHAExitConfig, exit_settings
from exitwise.modeling import MultiExitConfig


def config_of(num_layers: int = 3, **settings: Any) -> MultiExitConfig:
    return MultiExitConfig(encoder=BertConfig(num_hidden_layers=num_layers), **settings)


def test_every_layer_has_an_mha_exit_by_default() -> None:
    config = config_of()
    assert config.exit_layers == [1, 2, 3]
    assert {config.exit_at(layer) for layer in config.exit_layers} == {MHAExitConfig()}


def test_the_last_exit_may_be_of_another_kind() -> None:
    config = config_of(last_exit={"kind": "linear"})
    assert [type(config.exit_at(layer)) for layer in (1, 2, 3)] == [
        MHAExitConfig,
        MHAExitConfig,
        LinearExitConfig,
    ]


def test_the_last_layer_always_has_an_exit_and_layers_ascend() -> None:
    assert config_of(exit_layers=[2, 1, 2]).exit_layers == [1, 2, 3]


@pytest.mark.parametrize("layers", [[0], [4], [1, 7]])
def test_layers_that_the_encoder_does_not_have_are_refused(layers: list[int]) -> None:
    with pytest.raises(ValueError, match="exit_layers must be 1 … 3"):
        config_of(exit_layers=layers)


def test_the_settings_of_exits_are_complete_in_the_file(tmp_path: Path) -> None:
    config_of(exit={"kind": "mha", "width": 32}, exit_layers=[2]).save_pretrained(tmp_path)
    saved = json.loads((tmp_path / "config.json").read_text())
    assert saved["model_type"] == "exitwise"
    assert saved["exit"] == exit_settings(MHAExitConfig(width=32))
    assert saved["exit_layers"] == [2, 3]
    assert saved["encoder"]["model_type"] == "bert"
    found = MultiExitConfig.from_pretrained(tmp_path)
    assert isinstance(found.encoder, BertConfig)
    assert found.exit_at(2) == MHAExitConfig(width=32)


def test_an_unknown_kind_of_exit_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown exit 'mhaa', did you mean 'mha'"):
        config_of(exit={"kind": "mhaa"})


def test_a_configuration_without_an_encoder_is_refused() -> None:
    with pytest.raises(ValueError, match="needs the configuration of its encoder"):
        MultiExitConfig()


@pytest.mark.parametrize("task", ["regression", "multi_label_classification"])
@pytest.mark.field_case(18)
@pytest.mark.field_case(57)
def test_another_task_is_refused_by_name(task: str) -> None:
    with pytest.raises(UnsupportedError, match=f"{task} is not supported"):
        config_of(problem_type=task)
