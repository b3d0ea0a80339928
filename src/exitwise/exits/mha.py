"""The multi-head attention exit, the paper's own."""

from dataclasses import dataclass

from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from exitwise.exits.base import EXITS, Exit, ExitConfig, first_token, first_token_index, linear


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
        self.num_heads = config.num_heads
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
        narrow = self.down(hidden).tanh()  # [n, l, e]
        first = first_token(narrow, attention_mask)[:, None]  # [n, 1, e]
        context = scaled_dot_product_attention(
            self._split(self.query(first)),
            self._split(self.key(narrow)),
            self._split(self.value(narrow)),
            attn_mask=_visible_keys(attention_mask)[:, None, None],  # [n, 1, 1, l]
            dropout_p=self.dropout.p if self.training else 0.0,
        )  # [n, h, 1, e/h]
        attended: Tensor = self.output(context.flatten(1))  # [n, e]
        return attended.tanh()

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

    def _split(self, states: Float[Tensor, "n l e"]) -> Float[Tensor, "n h l s"]:
        """The heads as contiguous slices of the width."""
        num_samples, length, width = states.shape
        heads = states.view(num_samples, length, self.num_heads, width // self.num_heads)
        return heads.transpose(1, 2)


def _visible_keys(
    attention_mask: Int[Tensor, "n l"] | Bool[Tensor, "n l"],
) -> Bool[Tensor, "n l"]:
    """All tokens that are not padding; position 0 of a sample of padding alone.

    A softmax over no key at all is not a number.
    """
    first = first_token_index(attention_mask)[:, None]
    return attention_mask.bool().scatter(1, first, True)
