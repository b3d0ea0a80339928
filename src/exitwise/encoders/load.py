"""From a name or a configuration to a bare encoder, and from an encoder to its walk."""

import inspect
from pathlib import Path

from torch import nn
from transformers import AutoConfig, AutoModel, PreTrainedConfig, PreTrainedModel

from exitwise.encoders.base import LayerwiseEncoder
from exitwise.encoders.mpnet import MPNetEncoder
from exitwise.encoders.plain import DistilBertEncoder, PlainEncoder, RobertaEncoder
from exitwise.errors import UnsupportedError

FAMILIES: tuple[type[LayerwiseEncoder], ...] = (
    PlainEncoder,
    RobertaEncoder,
    DistilBertEncoder,
    MPNetEncoder,
)
BY_MODEL_TYPE = {kind: family for family in FAMILIES for kind in family.model_types}


def layerwise(model: PreTrainedModel) -> LayerwiseEncoder:
    """The walk over an encoder's layers.

    Raises:
        UnsupportedError: nobody has checked a walk over this type of model.
    """
    return family_of(model.config)(model)


def family_of(config: PreTrainedConfig) -> type[LayerwiseEncoder]:
    """The walk for a type of encoder, or an error that lists those there are."""
    if config.model_type not in BY_MODEL_TYPE:
        known = ", ".join(sorted(BY_MODEL_TYPE))
        raise UnsupportedError(
            f"an encoder of type {config.model_type!r} cannot be walked layer by layer yet; "
            f"these can: {known}"
        )
    return BY_MODEL_TYPE[config.model_type]


def load_encoder(name_or_path: str | Path) -> PreTrainedModel:
    """A pre-trained encoder without its pooler, in float32, from a folder or the hub."""
    config = AutoConfig.from_pretrained(name_or_path)
    family_of(config)
    return AutoModel.from_pretrained(
        name_or_path, config=config, dtype="float32", **without_pooler(config)
    )


def build_encoder(config: PreTrainedConfig) -> PreTrainedModel:
    """An encoder without its pooler, of random weights."""
    family_of(config)
    return AutoModel.from_config(config, **without_pooler(config))


def without_pooler(config: PreTrainedConfig) -> dict[str, bool]:
    """The argument that leaves the pooler out, for the classes that have it."""
    model_class = AutoModel._model_mapping[type(config)]
    has_pooler = "add_pooling_layer" in inspect.signature(model_class.__init__).parameters
    return {"add_pooling_layer": False} if has_pooler else {}


def truncate(model: PreTrainedModel, num_layers: int) -> PreTrainedModel:
    """Keeps the first layers of an encoder, in place; the others are let go."""
    walk = layerwise(model)
    if not 1 <= num_layers <= walk.num_layers:
        raise ValueError(
            f"num_layers must be 1 … {walk.num_layers}, the layers of this encoder, "
            f"found {num_layers}"
        )
    layers: nn.ModuleList = walk.layers
    del layers[num_layers:]
    model.config.num_hidden_layers = num_layers
    return model
