"""Attention as one operator of the graph instead of a dozen."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import AttentionInterface

IMPLEMENTATION = "exitwise_onnx"
"""Under this name encoders find `layer_attention`, while they are traced."""


def fused_attention(
    query: Float[Tensor, "n q a"],
    key: Float[Tensor, "n l b"],
    value: Float[Tensor, "n l b"],
    mask: Float[Tensor, "n 1 q l"],
    *,
    num_heads: int,
    num_key_heads: int,
    scale: float,
) -> Float[Tensor, "n q a"]:
    r"""ONNX's `Attention`: of each head $\mathrm{softmax}(s\,Q_h K_h^\top + \mathrm{mask})\,V_h$.

    Heads lie beside each other in the last axis, so that nothing is transposed. Where there are
    fewer heads of keys than of queries, several queries share one.
    """
    attended = torch.onnx.ops.attention(
        query,
        key,
        value,
        mask,
        q_num_heads=num_heads,
        kv_num_heads=num_key_heads,
        scale=scale,
    )
    result: Tensor = attended[0]
    return result


def layer_attention(
    module: nn.Module,
    query: Float[Tensor, "n h l s"],
    key: Float[Tensor, "n h l s"],
    value: Float[Tensor, "n h l s"],
    attention_mask: Float[Tensor, "n 1 1 l"],
    *,
    scaling: float,
    **others: Any,  # noqa: ANN401 - what transformers' encoders give besides, for training
) -> tuple[Float[Tensor, "n l h s"], None]:
    """What a layer calls; its heads go back beside each other, from where it has taken them."""
    rows, heads, length, size = query.shape
    query, key, value = (
        each.transpose(1, 2).reshape(rows, length, heads * size) for each in (query, key, value)
    )
    mask = attention_mask.expand(-1, -1, length, -1)
    attended = fused_attention(
        query, key, value, mask, num_heads=heads, num_key_heads=heads, scale=scaling
    )
    return attended.reshape(rows, length, heads, size), None


AttentionInterface.register(IMPLEMENTATION, layer_attention)
