"""What a layer's attention compares, before it becomes probabilities."""

from typing import Any

from jaxtyping import Float
from torch import Tensor

from exitwise.encoders import FAMILIES, DistilBertEncoder, LayerwiseEncoder, PlainEncoder
from exitwise.errors import UnsupportedError


def check_has_attention_scores(model_type: str) -> None:
    """Refuses encoders whose scores are more than products of queries and keys.

    Raises:
        UnsupportedError: MPNet and DeBERTa add terms of relative positions.
    """
    if not issubclass(FAMILIES[model_type], PlainEncoder):
        raise UnsupportedError(
            f"the attention of a {model_type} encoder is not queries times keys "
            "alone, so that its scores cannot be compared: use compression.kind = 'distillation'"
        )


def attention_scores(
    walk: LayerwiseEncoder[Any], layer: int, hidden: Float[Tensor, "n l d"]
) -> Float[Tensor, "n h l l"]:
    r"""$Q K^\top / \sqrt{d_h}$ of a layer's heads, before softmax, padding not hidden.

    They are computed anew from the layer's input by its own maps: attention implementations other
    than the eager one never hold them, and none gives them out. That is a sixth of the products of
    a layer once more, on short texts.

    Args:
        walk: over an encoder that `check_has_attention_scores` lets pass.
        layer: from 1.
        hidden: the states before that layer.
    """
    attention = walk.layers[layer - 1].get_submodule("attention")
    heads = int(walk.model.config.num_attention_heads)
    queries, keys = (
        attention.get_submodule(name)(hidden).unflatten(-1, (heads, -1)).transpose(1, 2)
        for name in _query_and_key(walk)
    )  # [n, h, l, d / h]
    scores: Tensor = queries @ keys.transpose(-1, -2) / queries.shape[-1] ** 0.5
    return scores


def _query_and_key(walk: LayerwiseEncoder[Any]) -> tuple[str, str]:
    """The names of the two maps in a layer's attention."""
    if isinstance(walk, DistilBertEncoder):
        return "q_lin", "k_lin"
    return "self.query", "self.key"
