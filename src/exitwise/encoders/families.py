"""Which walk goes with which type of model."""

from typing import Any

from transformers import PreTrainedConfig, PreTrainedModel

from exitwise.encoders.base import LayerwiseEncoder
from exitwise.errors import UnsupportedError

Walk = LayerwiseEncoder[Any]  # what stands in the context is the family's own affair

FAMILIES: dict[str, type[Walk]] = {}


def register(family: type[Walk]) -> type[Walk]:
    """Adds a family under the types of model that it names; for use as a decorator."""
    FAMILIES.update(dict.fromkeys(family.model_types, family))
    return family


def family_of(config: PreTrainedConfig) -> type[Walk]:
    """The walk for a type of encoder.

    Raises:
        UnsupportedError: nobody has checked a walk over this type of model. A plain walk over an
            unknown type can give wrong numbers without an error.
    """
    if config.model_type not in FAMILIES:
        raise UnsupportedError(
            f"an encoder of type {config.model_type!r} cannot be walked layer by layer; "
            f"these can: {', '.join(sorted(FAMILIES))}"
        )
    if getattr(config, "is_decoder", False):
        raise UnsupportedError(
            f"this {config.model_type!r} is configured as a decoder, whose tokens see no later "
            "ones; exits need an encoder (is_decoder=False)"
        )
    return FAMILIES[config.model_type]


def layerwise(model: PreTrainedModel) -> Walk:
    """The walk over an encoder's layers, chosen by `model.config.model_type`.

    Raises:
        UnsupportedError: nobody has checked a walk over this type of model.
    """
    return family_of(model.config)(model)
