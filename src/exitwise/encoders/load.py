"""From a name or a configuration to a bare encoder, and to a shorter one."""

import inspect
from collections.abc import Callable
from pathlib import Path

from transformers import AutoConfig, AutoModel, PreTrainedConfig, PreTrainedModel

from exitwise.encoders.families import family_of, layerwise
from exitwise.encoders.weights import check_complete, load_weights


def load_encoder(name_or_path: str | Path) -> PreTrainedModel:
    """A pre-trained encoder without its pooler, in float32, from a folder or the hub.

    Raises:
        UnsupportedError: before anything large is loaded, if nobody can walk this type; after, if
            the files lack a part of the encoder, which would stay random.
    """
    config = AutoConfig.from_pretrained(name_or_path)
    family_of(config)
    model, missing = load_weights(
        AutoModel.from_pretrained, name_or_path, config, **without_pooler(config)
    )
    encoder = layerwise(model).model
    check_complete(name_or_path, missing.intersection(encoder.state_dict()))
    return encoder


def build_encoder(config: PreTrainedConfig) -> PreTrainedModel:
    """An encoder without its pooler, of random weights."""
    family_of(config)
    build: Callable[..., PreTrainedModel] = AutoModel.from_config  # not typed by the library
    return layerwise(build(config, **without_pooler(config))).model


def truncate(model: PreTrainedModel, num_layers: int) -> PreTrainedModel:
    """Keeps the first layers of an encoder, in place; the others are let go.

    The states after the layers that stay are those of the longer encoder. A shortened ModernBERT
    has no final norm; that is known to `load_encoder` and `build_encoder`, not to the library.
    """
    layerwise(model).cut(num_layers)
    return model


def let_go_of_pooler(model: PreTrainedModel) -> None:
    """Makes a bare encoder one without a pooler, in place."""
    if without_pooler(model.config) and getattr(model, "pooler", None) is not None:
        model.register_module("pooler", None)  # as the library itself leaves it out


def without_pooler(config: PreTrainedConfig) -> dict[str, bool]:
    """The argument that leaves the pooler out, for the classes that have it.

    No exit uses the pooler: it would be saved, and counted among what is trained.
    """
    model_class = AutoModel._model_mapping[type(config)]
    assert isinstance(model_class, type)  # some types have several classes, none of ours
    has_pooler = "add_pooling_layer" in inspect.signature(model_class).parameters
    return {"add_pooling_layer": False} if has_pooler else {}
