"""Exits for a graph: the same logits in fewer operations, padding on the right."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from exitwise.errors import UnsupportedError
from exitwise.exits import Exit, LinearExit, MHAExit, MHAExitConfig, PoolerExit
from exitwise.export.attention import fused_attention


def static_exit(exit: Exit) -> nn.Module:
    """The logits of an exit as a module of (hidden [n, l, d], additive mask [n, 1, 1, l]).

    Raises:
        UnsupportedError: an exit of somebody else's, for which no graph was written.
    """
    if isinstance(exit, MHAExit):
        return StaticMHAExit(exit)
    if isinstance(exit, LinearExit):
        return FirstTokenExit(exit.classifier)
    if isinstance(exit, PoolerExit):
        return FirstTokenExit(nn.Sequential(exit.dense, exit.activation, exit.classifier))
    raise UnsupportedError(f"{type(exit).__name__} has no graph: add one to static_exits.py")


class FirstTokenExit(nn.Module):
    """An exit that reads the first token alone."""

    def __init__(self, head: nn.Module) -> None:
        super().__init__()
        self.head = head

    def forward(
        self, hidden: Float[Tensor, "n l d"], mask: Float[Tensor, "n 1 1 l"]
    ) -> Float[Tensor, "n k"]:
        """The mask is not needed."""
        logits: Tensor = self.head(hidden[:, 0])
        return logits


class StaticMHAExit(nn.Module):
    r"""`MHAExit` with its maps multiplied out, exact in exact arithmetic.

    With $t_j$ the narrowed states and $s$ the width of a head, the scores of head $h$ are

    $$(W^q_h t_0 + b^q_h)^\top (W^k_h t_j + b^k_h) / \sqrt{s}
      = (A_h t_0 + a_h)^\top t_j + \mathrm{const}, \quad
      A_h = W^{k\top}_h W^q_h / \sqrt{s}, \; a_h = W^{k\top}_h b^q_h / \sqrt{s}$$

    and the constant, the same for all $j$, changes no softmax. Values and output projection become
    one map of the weighted sums of $t_j$: $B_h = W^o_{\cdot h} W^v_h$, $b = b^o + W^o b^v$. So keys
    and values of the l tokens are never computed.
    """

    def __init__(self, exit: MHAExit) -> None:
        super().__init__()
        assert isinstance(exit.config, MHAExitConfig)
        heads, width = exit.config.num_heads, exit.config.width
        size = width // heads
        query, key, value = (
            layer.weight.detach().view(heads, size, width)
            for layer in (exit.query, exit.key, exit.value)
        )
        query_bias = exit.query.bias.detach().view(heads, 1, size)
        output = exit.output.weight.detach().view(width, heads, size).transpose(0, 1)
        asks = query.transpose(1, 2) @ key / size**0.5  # A_h^T, [h, e, e]
        self.heads, self.width = heads, width
        self.down = exit.down
        self.query = nn.Parameter(asks.transpose(0, 1).reshape(width, heads * width))
        self.query_bias = nn.Parameter((query_bias @ key / size**0.5).reshape(heads * width))
        # B_h^T under each other: [h e, e]
        self.output = nn.Parameter((output @ value).transpose(1, 2).reshape(heads * width, width))
        self.output_bias = nn.Parameter(
            exit.output.bias.detach() + exit.output.weight.detach() @ exit.value.bias.detach()
        )
        self.classifier = exit.classifier

    def forward(
        self, hidden: Float[Tensor, "n l d"], mask: Float[Tensor, "n 1 1 l"]
    ) -> Float[Tensor, "n k"]:
        """One query a head, over all tokens."""
        narrow = torch.tanh(self.down(hidden))  # [n, l, e]
        query = narrow[:, :1] @ self.query + self.query_bias  # [n, 1, h e]
        context = fused_attention(
            query, narrow, narrow, mask, num_heads=self.heads, num_key_heads=1, scale=1.0
        )
        joined = context[:, 0]
        logits: Tensor = self.classifier(torch.tanh(joined @ self.output + self.output_bias))
        return logits
