"""The multi-head attention exit, the paper's own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from exitwise.exits.base import (
    EXITS,
    Exit,
    ExitConfig,
    first_token_index,
    linear,
    linear_together,
)


@dataclass(frozen=True, kw_only=True)
class MHAExitConfig(ExitConfig):
    """Settings of `MHAExit`; `dropout` also falls on its attention weights.

    Attributes:
        width: $d_e$, the width of the exit.
        num_heads: the paper does not say; 2 as in the closely related exit of FastBERT (Liu et
            al. 2020, https://arxiv.org/abs/2004.02178). It does not change the parameter count.
    """

    width: int = 64
    num_heads: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.width < 1 or self.num_heads < 1:
            raise ValueError(
                f"width and num_heads must be at least 1, found {self.width} and {self.num_heads}"
            )
        if self.width % self.num_heads:
            raise ValueError(
                f"width must be a multiple of num_heads, found {self.width} and {self.num_heads}"
            )

    def embedding_width(self, encoder_width: int) -> int:
        """$d_e$, whatever the encoder's width."""
        return self.width


@EXITS.register
class MHAExit(Exit):
    r"""Narrows the hidden states, lets the first token attend to all, classifies the result.

    $$T = \tanh(H^{(m)} W_\downarrow + b_\downarrow), \quad
      C = \mathrm{MHA}(T), \quad h^e = \tanh(C_0), \quad \mathrm{logits} = h^e W$$

    $T$ and $C$ are [l, d_e]. The attention has query, key, value and output projections with
    biases and the scale $1/\sqrt{d_e / \mathrm{heads}}$, but no residual, norm or feed-forward
    part. Padding is no key. Only $C_0$ is used, so only the first token's query is computed.
    """

    config_class = MHAExitConfig

    def __init__(self, config: MHAExitConfig, *, encoder_width: int, num_labels: int) -> None:
        super().__init__(config, encoder_width=encoder_width, num_labels=num_labels)
        self.down = linear(encoder_width, config.width)
        self.query = linear(config.width, config.width)
        self.key = linear(config.width, config.width)
        self.value = linear(config.width, config.width)
        self.output = linear(config.width, config.width)

    def embed(
        self,
        hidden: Float[Tensor, "n l d"],
        attention_mask: Int[Tensor, "n l"] | Bool[Tensor, "n l"],
    ) -> Float[Tensor, "n e"]:
        r"""$h^e = \tanh(C_0)$, where 0 is the first token that is not padding."""
        return self.embed_together([self], hidden[None], attention_mask)[0]

    @classmethod
    def embed_together(
        cls,
        exits: Sequence[Any],
        hidden: Float[Tensor, "m n l d"],
        attention_mask: Int[Tensor, "n l"] | Bool[Tensor, "n l"],
    ) -> Float[Tensor, "m n e"]:
        """`embed` of several exits; each product is one over all of them."""
        num_exits, num_samples, length, _ = hidden.shape
        first_exit, width = exits[0], exits[0].config.width
        head_width = width // first_exit.config.num_heads

        def heads(maps: Sequence[nn.Linear], states: Float[Tensor, "m n t e"]) -> Tensor:
            """[m n, h, t, e/h], the heads as contiguous slices of the width."""
            mapped = linear_together(maps, states.flatten(1, 2))
            shape = num_exits * num_samples, states.shape[2], width // head_width, head_width
            return mapped.view(shape).transpose(1, 2)

        narrow = linear_together([exit.down for exit in exits], hidden.flatten(1, 2)).tanh()
        narrow = narrow.view(num_exits, num_samples, length, width)  # [m, n, l, e]
        rows = torch.arange(num_samples, device=narrow.device)
        first = narrow[:, rows, first_token_index(attention_mask)][:, :, None]  # [m, n, 1, e]
        visible = _visible_keys(attention_mask).repeat(num_exits, 1)  # [m n, l]
        context = scaled_dot_product_attention(
            heads([exit.query for exit in exits], first),
            heads([exit.key for exit in exits], narrow),
            heads([exit.value for exit in exits], narrow),
            attn_mask=visible[:, None, None],
            dropout_p=first_exit.dropout.p if first_exit.training else 0.0,
        )  # [m n, h, 1, e/h]
        joined = context.reshape(num_exits, num_samples, width)
        return linear_together([exit.output for exit in exits], joined).tanh()

    def macs(self, length: int) -> int:
        r"""$d\,d_e l + 2 d_e^2 (l + 1) + 2 d_e l + d_e K$: the query of one token.

        See `macs_of_all_queries` for the count of a full self-attention.
        """
        width = self.down.out_features
        products = 2 * width * width * (length + 1) + 2 * width * length
        return self.down.weight.numel() * length + products + self.classifier.weight.numel()

    def macs_of_all_queries(self, length: int) -> int:
        r"""$d\,d_e l + 4 d_e^2 l + 2 d_e l^2 + d_e K$: the exit as the paper describes it.

        For comparison with the paper's figures; `forward` spends less (`macs`).
        """
        width = self.down.out_features
        products = 4 * width * width * length + 2 * width * length * length
        return self.down.weight.numel() * length + products + self.classifier.weight.numel()


def _visible_keys(
    attention_mask: Int[Tensor, "n l"] | Bool[Tensor, "n l"],
) -> Bool[Tensor, "n l"]:
    """All tokens that are not padding; position 0 of a sample of padding alone.

    A softmax over no key at all is not a number.
    """
    first = first_token_index(attention_mask)[:, None]
    return attention_mask.bool().scatter(1, first, True)
