"""The configuration of a multi-exit classifier: its encoder's own, and the exits."""

from typing import Any

from transformers import AutoConfig, PreTrainedConfig
from transformers.configuration_utils import SubConfigSpec

from exitwise.exits import ExitConfig, MHAExitConfig, exit_config, exit_settings


class MultiExitConfig(PreTrainedConfig):
    """What `MultiExitForSequenceClassification` is built from; saved as `config.json`.

    Attributes:
        encoder: the encoder's own configuration.
        exit: kind and settings of the exits; MHA by default.
        last_exit: those of the exit after the last layer, the same if `None`.
        exit_layers: the layers that have an exit, all by default, the last always.
    """

    model_type = "exitwise"
    sub_configs_defaults = {  # noqa: RUF012 - the base class reads it from the class
        "encoder": SubConfigSpec(config_class=AutoConfig, model_type="bert")
    }

    encoder: PreTrainedConfig | dict[str, Any] | None = None
    exit: dict[str, Any] | None = None
    last_exit: dict[str, Any] | None = None
    exit_layers: list[int] | None = None

    def __post_init__(self, **kwargs: Any) -> None:  # noqa: ANN401 - the base class's own
        super().__post_init__(**kwargs)
        self.exit = exit_settings(exit_config(self.exit)) if self.exit else exit_settings(DEFAULT)
        if self.last_exit is not None:
            self.last_exit = exit_settings(exit_config(self.last_exit))
        num_layers = self.num_hidden_layers
        layers = self.exit_layers or range(1, num_layers + 1)
        self.exit_layers = sorted({*layers, num_layers})
        if self.exit_layers[0] < 1 or self.exit_layers[-1] > num_layers:
            raise ValueError(f"exit_layers must be 1 … {num_layers}, found {list(layers)}")

    @property
    def num_hidden_layers(self) -> int:
        """M, the layers of the encoder."""
        assert isinstance(self.encoder, PreTrainedConfig)
        return int(self.encoder.num_hidden_layers)

    def exit_at(self, layer: int) -> ExitConfig:
        """The settings of the exit after a layer."""
        is_last = layer == self.num_hidden_layers
        settings = self.last_exit if is_last and self.last_exit is not None else self.exit
        assert settings is not None
        return exit_config(settings)


DEFAULT = MHAExitConfig()
