"""From settings to exits: as an object, and as the plain values that a file can hold."""

from collections.abc import Mapping
from dataclasses import asdict

from exitwise.exits.base import EXITS, Exit, ExitConfig


def build_exit(config: ExitConfig, *, encoder_width: int, num_labels: int) -> Exit:
    """The exit that the settings describe, freshly initialised.

    >>> from exitwise.exits import LinearExitConfig
    >>> build_exit(LinearExitConfig(), encoder_width=8, num_labels=2).classifier
    Linear(in_features=8, out_features=2, bias=False)
    """
    return _exit_class(config)(config, encoder_width=encoder_width, num_labels=num_labels)


def exit_settings(config: ExitConfig) -> dict[str, object]:
    """The settings as plain values, with the exit's key under `kind`.

    >>> from exitwise.exits import LinearExitConfig
    >>> exit_settings(LinearExitConfig(dropout=0.2))
    {'kind': 'linear', 'dropout': 0.2, 'bias': False, 'embedding': 'before_dropout'}
    """
    return {"kind": EXITS.key(_exit_class(config)), **asdict(config)}


def exit_config(settings: Mapping[str, object]) -> ExitConfig:
    """The inverse of `exit_settings`; what is not given takes its default.

    >>> exit_config({"kind": "mha", "width": 32})
    MHAExitConfig(dropout=0.1, bias=False, embedding='before_dropout', width=32, num_heads=2)
    """
    values = dict(settings)
    if "kind" not in values:
        raise ValueError(f"an exit needs a kind, one of {', '.join(EXITS)}; found {values}")
    return EXITS[str(values.pop("kind"))].config_class(**values)  # type: ignore[arg-type]


def _exit_class(config: ExitConfig) -> type[Exit]:
    for member in EXITS.values():
        if member.config_class is type(config):
            return member
    raise TypeError(f"no exit takes the settings {type(config).__name__}; known: {list(EXITS)}")
