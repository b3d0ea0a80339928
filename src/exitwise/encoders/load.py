"""From a name or a configuration to a bare encoder, and to a shorter one."""

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path

from transformers import AutoConfig, AutoModel, PreTrainedConfig, PreTrainedModel

from exitwise.encoders.families import family_of, layerwise
from exitwise.encoders.heads import (
    attention_of,
    check_heads,
    keep_places,
    kept_heads,
    set_kept_heads,
    whole_heads,
)
from exitwise.encoders.weights import check_complete, load_weights
from exitwise.errors import UnsupportedError


def load_encoder(name_or_path: str | Path) -> PreTrainedModel:
    """A pre-trained encoder without its pooler, in float32, from a folder or the hub.

    Raises:
        UnsupportedError: before anything large is loaded, if nobody can walk this type or heads
            were removed, which only classifiers of exitwise can say; after, if the files lack a
            part of the encoder, which would stay random.
    """
    config = AutoConfig.from_pretrained(name_or_path)
    family_of(config)
    if hasattr(config, "kept_heads"):
        raise UnsupportedError(
            f"{name_or_path} is an encoder without some of its heads, which loads as a part of "
            "its classifier alone: save and start from that"
        )
    model, missing = load_weights(
        AutoModel.from_pretrained, name_or_path, config, **without_pooler(config)
    )
    encoder = layerwise(model).model
    check_complete(name_or_path, missing.intersection(encoder.state_dict()))
    return encoder


def build_encoder(config: PreTrainedConfig) -> PreTrainedModel:
    """An encoder without its pooler, of random weights, with the heads that the config names."""
    family_of(config)
    build: Callable[..., PreTrainedModel] = AutoModel.from_config  # not typed by the library
    encoder = layerwise(build(config, **without_pooler(config))).model
    _narrow(encoder, whole_heads(config), kept_heads(config))
    return encoder


def keep_heads(model: PreTrainedModel, kept: Sequence[Sequence[int]]) -> PreTrainedModel:
    """Keeps some heads of each layer of an encoder, in place; the others are let go.

    Args:
        model: the encoder; its configuration tells from then on which heads it has.
        kept: for each layer the heads that stay, at least one, by the numbers of `kept_heads`.

    Raises:
        UnsupportedError: heads cannot be removed from this type of encoder.
        ValueError: a head is not there, or a layer would have none.
    """
    _narrow(model, kept_heads(model.config), kept)
    set_kept_heads(model.config, kept)
    return model


def _narrow(
    model: PreTrainedModel, before: Sequence[Sequence[int]], kept: Sequence[Sequence[int]]
) -> None:
    check_heads(before, kept)
    for layer, there, heads in zip(layerwise(model).layers, before, kept, strict=True):
        if len(heads) < len(there):
            keep_places(attention_of(model.config, layer), [there.index(head) for head in heads])


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
