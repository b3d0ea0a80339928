"""Attention heads: which ones the layers have, and layers without the others."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from transformers import PreTrainedConfig

from exitwise.errors import UnsupportedError

# Which modules a layer of the library has differs by class, and no type says so.
Layer = Any


class Attention(NamedTuple):
    """The self-attention of one layer.

    Attributes:
        module: holds the counts.
        inputs: the projections to query, key and value; a head owns some of their rows.
        output: the projection of all heads' outputs; a head owns some of its columns.
        counts: what the module calls the number of heads, and their width together.
    """

    module: nn.Module
    inputs: tuple[nn.Linear, nn.Linear, nn.Linear]
    output: nn.Linear
    counts: tuple[str, str]


def _bert(layer: Layer) -> Attention:
    attention = layer.attention.self
    return Attention(
        attention,
        (attention.query, attention.key, attention.value),
        layer.attention.output.dense,
        ("num_attention_heads", "all_head_size"),
    )


def _distilbert(layer: Layer) -> Attention:
    attention = layer.attention
    return Attention(
        attention,
        (attention.q_lin, attention.k_lin, attention.v_lin),
        attention.out_lin,
        ("n_heads", "dim"),
    )


ATTENTIONS: dict[str, Callable[[Layer], Attention]] = {
    "bert": _bert,
    "camembert": _bert,
    "distilbert": _distilbert,
    "electra": _bert,
    "ernie": _bert,
    "roberta": _bert,
    "xlm-roberta": _bert,
}


def check_heads_are_apart(model_type: str) -> None:
    """Refuses encoders by name whose heads cannot be removed; see `attention_of`."""
    if model_type not in ATTENTIONS:
        raise UnsupportedError(
            f"heads of an encoder of type {model_type!r} cannot be removed; "
            f"of these they can: {', '.join(ATTENTIONS)}"
        )


def attention_of(config: PreTrainedConfig, layer: nn.Module) -> Attention:
    """The attention of an encoder's layer.

    Raises:
        UnsupportedError: heads cannot be told apart there. MPNet's and DeBERTa's layers share
            tables in which every head has its place, ALBERT's share their weights, and ModernBERT
            has one matrix for query, key and value.
    """
    check_heads_are_apart(config.model_type)
    return ATTENTIONS[config.model_type](layer)


def kept_heads(config: PreTrainedConfig) -> tuple[tuple[int, ...], ...]:
    """The heads of layers 1 … M, by the numbers 1 … h that they had before any was removed.

    >>> from transformers import BertConfig
    >>> kept_heads(BertConfig(num_hidden_layers=2, num_attention_heads=3))
    ((1, 2, 3), (1, 2, 3))
    """
    found: Sequence[Sequence[int]] = getattr(config, "kept_heads", whole_heads(config))
    return tuple(tuple(heads) for heads in found)


def whole_heads(config: PreTrainedConfig) -> tuple[tuple[int, ...], ...]:
    """The heads of layers 1 … M before any was removed."""
    heads = tuple(range(1, int(config.num_attention_heads) + 1))
    return (heads,) * int(config.num_hidden_layers)


def set_kept_heads(config: PreTrainedConfig, kept: Sequence[Sequence[int]]) -> None:
    """Writes down which heads there are; nothing, where all are."""
    if hasattr(config, "kept_heads"):
        del config.kept_heads
    if any(len(heads) < config.num_attention_heads for heads in kept):
        config.kept_heads = [list(heads) for heads in kept]


def check_heads(there: Sequence[Sequence[int]], kept: Sequence[Sequence[int]]) -> None:
    """Whether the heads that are to stay are there, and each layer keeps one.

    Raises:
        ValueError: names the first that is not, or the layer.
    """
    for layer, (before, heads) in enumerate(zip(there, kept, strict=True), start=1):
        if not heads:
            raise ValueError(f"layer {layer} would have no head: at least one must stay")
        for head in heads:
            if head not in before:
                raise ValueError(
                    f"head {head} of layer {layer} is not there: it has the heads "
                    f"{', '.join(map(str, before))}"
                )


def keep_places(attention: Attention, places: Sequence[int]) -> None:
    """Keeps the heads at some places, counted from 0, and lets go of the weights of the others."""
    head_size = int(attention.module.attention_head_size)  # type: ignore[arg-type]
    starts = torch.tensor(places) * head_size
    kept = (starts[:, None] + torch.arange(head_size)).flatten()
    for projection in attention.inputs:
        projection.weight = _part(projection.weight, kept, dim=0)
        projection.bias = _part(projection.bias, kept, dim=0)
        projection.out_features = len(kept)
    attention.output.weight = _part(attention.output.weight, kept, dim=1)
    attention.output.in_features = len(kept)
    for name, count in zip(attention.counts, (len(places), len(kept)), strict=True):
        setattr(attention.module, name, count)


def _part(parameter: Tensor, kept: Tensor, *, dim: int) -> nn.Parameter:
    part = parameter.detach().index_select(dim, kept.to(parameter.device))
    return nn.Parameter(part, requires_grad=parameter.requires_grad)
