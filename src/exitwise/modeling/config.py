"""The configuration of a multi-exit classifier: its encoder's own, and the exits."""

from dataclasses import field
from os import PathLike
from typing import Any

from transformers import AutoConfig, PreTrainedConfig
from transformers.configuration_utils import SubConfigSpec

from exitwise.errors import UnsupportedError
from exitwise.exits import ExitConfig, MHAExitConfig, exit_config, exit_settings


class MultiExitConfig(PreTrainedConfig):
    """What `MultiExitForSequenceClassification` is built from; saved as `config.json`.

    Attributes:
        encoder: the encoder's own configuration.
        exit: kind and settings of the exits; MHA by default.
        last_exit: those of the exit after the last layer, the same if `None`.
        exit_layers: the layers that have an exit, in ascending order; all by default, the last
            always.
        takes_pairs: whether the model was trained on pairs of texts; `None` if nobody has said.
    """

    model_type = "exitwise"
    # The constructor takes whatever a config.json holds: no type checker may wrap it by its fields.
    __no_type_check__ = True
    sub_configs_defaults = {  # noqa: RUF012 - the base class reads it from the class
        "encoder": SubConfigSpec(config_class=AutoConfig, model_type="bert")
    }

    encoder: PreTrainedConfig | dict[str, Any] | None = None
    exit: dict[str, Any] = field(default_factory=lambda: exit_settings(MHAExitConfig()))
    last_exit: dict[str, Any] | None = None
    exit_layers: list[int] = field(default_factory=list)
    takes_pairs: bool | None = None

    def __post_init__(self, **kwargs: Any) -> None:  # noqa: ANN401 - the base class's own
        if self.encoder is None:
            raise ValueError("a multi-exit classifier needs the configuration of its encoder")
        super().__post_init__(**kwargs)
        if self.problem_type not in (None, "single_label_classification"):
            raise UnsupportedError(
                f"{self.problem_type} is not supported: exits give each text one of its labels"
            )
        self.exit = exit_settings(exit_config(self.exit))  # with the defaults of what is not given
        if self.last_exit is not None:
            self.last_exit = exit_settings(exit_config(self.last_exit))
        last = self.num_hidden_layers
        layers = self.exit_layers or range(1, last + 1)
        self.exit_layers = sorted({*layers, last})
        if self.exit_layers[0] < 1 or self.exit_layers[-1] > last:
            raise ValueError(f"exit_layers must be 1 … {last}, found {list(layers)}")

    @classmethod
    def get_config_dict(
        cls,
        pretrained_model_name_or_path: str | PathLike[Any],
        **kwargs: Any,  # noqa: ANN401 - the base class's own
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The settings in a saved model's file, and the arguments that say nothing of the place.

        Raises:
            UnsupportedError: it is a model of another type, which has no exits.
        """
        settings, others = super().get_config_dict(pretrained_model_name_or_path, **kwargs)
        found = settings.get("model_type")
        if found != cls.model_type:
            raise UnsupportedError(
                f"{pretrained_model_name_or_path} is a model of type {found!r}, without exits: "
                "from_encoder gives exits to an encoder, from_classifier to a trained classifier"
            )
        return settings, others

    @property
    def encoder_config(self) -> PreTrainedConfig:
        """The encoder's configuration, which the base class has made an object."""
        assert isinstance(self.encoder, PreTrainedConfig)
        return self.encoder

    @property
    def num_hidden_layers(self) -> int:
        """M, the layers of the encoder."""
        return int(self.encoder_config.num_hidden_layers)

    @property
    def label_names(self) -> tuple[str, ...]:
        """The names of the classes, in their order."""
        return label_names(self)

    def exit_at(self, layer: int) -> ExitConfig:
        """The settings of the exit after a layer."""
        is_last = layer == self.num_hidden_layers
        return exit_config(self.last_exit if is_last and self.last_exit else self.exit)


def label_names(config: PreTrainedConfig) -> tuple[str, ...]:
    """The names of any classifier's classes, in their order."""
    assert config.id2label is not None  # the base class makes some up
    return tuple(name for _, name in sorted(config.id2label.items()))


AutoConfig.register(MultiExitConfig.model_type, MultiExitConfig)
