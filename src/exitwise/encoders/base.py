"""Walking an encoder layer by layer: what all families share."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, TypeVar

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.attention.flex_attention import BlockMask
from transformers import PreTrainedModel
from transformers.masking_utils import create_bidirectional_mask

from exitwise.encoders.heads import kept_heads, set_kept_heads
from exitwise.encoders.macs import dense_layer_macs

# As the attention implementation wants it; nothing where there is no padding to hide.
AttentionMask = Tensor | BlockMask | None

# A tuple where several layers are one module.
Layers = nn.ModuleList | tuple[nn.Module, ...]

Context = TypeVar("Context")


@dataclass(frozen=True)
class LayerState(Generic[Context]):
    """Where a batch stands between two layers.

    Attributes:
        hidden: the states after the last layer that ran.
        attention_mask: 1 on tokens, 0 on padding.
        context: what the family's layers take beside the states, the same for all layers.
    """

    hidden: Float[Tensor, "n l d"]
    attention_mask: Int[Tensor, "n l"] | Bool[Tensor, "n l"]
    context: Context


class LayerwiseEncoder(ABC, Generic[Context]):
    """An encoder of transformers, one layer at a time, by its own modules.

    Layers are numbered 1 … M, as in the paper and in `hidden_states[m]`. A family says how to
    embed, what its layers take beside the states, how to call them, and what is not as in BERT.

    Args:
        model: the bare encoder; the walk holds it and copies nothing.

    Attributes:
        padding_mask: makes the mask that hides padding, from hidden states and attention mask;
            the library does if `None`.
    """

    model_types: ClassVar[tuple[str, ...]]
    padding_mask: Callable[[Tensor, Tensor], Tensor] | None = None

    def __init__(self, model: PreTrainedModel) -> None:
        self.model = model
        # Which modules it has differs by family, and no type says so.
        self._modules: Any = model

    @property
    def layers(self) -> Layers:
        """The modules of layers 1 … M, in this order."""
        layers: Layers = self._modules.encoder.layer
        return layers

    @property
    def num_layers(self) -> int:
        """M."""
        return int(self.model.config.num_hidden_layers)

    @property
    def width(self) -> int:
        """d, the width of the hidden states."""
        return int(self.model.config.hidden_size)

    def attention_width(self, layer: int) -> int:
        """The width of a layer's heads together: d, less the heads that were removed."""
        config = self.model.config
        num_heads = len(kept_heads(config)[layer - 1])
        return self.width * num_heads // int(config.num_attention_heads)

    @property
    def input_names(self) -> tuple[str, ...]:
        """The tensors that `embed` makes use of; a tokenizer may give more."""
        num_types = getattr(self.model.config, "type_vocab_size", 0)
        types = ("token_type_ids",) if num_types > 1 else ()
        return ("input_ids", "attention_mask", *types)

    @property
    def first_position(self) -> int:
        """The position of a text's first token, as the encoder counts."""
        return 0

    @property
    def has_position_table(self) -> bool:
        """Whether positions are looked up in a table, which ends somewhere."""
        return True

    @property
    def max_length(self) -> int:
        """The most tokens, special ones included, of a text that the encoder was made for."""
        return int(self.model.config.max_position_embeddings) - self.first_position

    def embed(
        self,
        input_ids: Int[Tensor, "n l"],
        attention_mask: Int[Tensor, "n l"] | Bool[Tensor, "n l"],
        token_type_ids: Int[Tensor, "n l"] | None = None,
    ) -> LayerState[Context]:
        """The state before layer 1.

        Positions count tokens, not padding, so that padding on either side changes nothing.
        Token types are left out where the encoder knows a single one.

        Raises:
            ValueError: a text is longer than the encoder's table of positions.
        """
        if self.has_position_table:
            self._check_length(attention_mask)
        if "token_type_ids" not in self.input_names:
            token_type_ids = None
        position_ids = positions(attention_mask, first=self.first_position)
        hidden = self._embeddings(input_ids, attention_mask, position_ids, token_type_ids)
        return self.resume(hidden, attention_mask)

    def resume(
        self,
        hidden: Float[Tensor, "n l d"],
        attention_mask: Int[Tensor, "n l"] | Bool[Tensor, "n l"],
    ) -> LayerState[Context]:
        """The state of a batch whose hidden states, after whichever layer, are at hand."""
        return LayerState(hidden, attention_mask, self._context(hidden, attention_mask))

    def run_layer(self, layer: int, state: LayerState[Context]) -> LayerState[Context]:
        """The state after a layer, from that after the layer before it."""
        self._check_layer(layer)
        return replace(state, hidden=self._run(layer, state))

    def keep_rows(self, state: LayerState[Context], rows: Int[Tensor, " r"]) -> LayerState[Context]:
        """Some rows of the batch, in the given order, without the padding that none needs."""
        if not len(rows):
            raise ValueError("no rows are left: the walk ends here")
        mask = state.attention_mask[rows]
        needed = mask.bool().any(dim=0).nonzero().flatten().tolist() or [0]
        columns = slice(needed[0], needed[-1] + 1)
        return self.resume(state.hidden[rows, columns], mask[:, columns])

    def layer_macs(self, length: int, layer: int = 1) -> int:
        """Multiply-accumulates of a layer on one text of that many tokens (matrix products)."""
        self._check_layer(layer)
        config = self.model.config
        return dense_layer_macs(
            length,
            width=config.hidden_size,
            intermediate=config.intermediate_size,
            attention_width=self.attention_width(layer),
        )

    def cut(self, num_layers: int) -> None:
        """Lets go of the layers after the first so many, in the model and in its configuration."""
        self._check_layer(num_layers)
        layers = self.layers
        assert isinstance(layers, nn.ModuleList)
        del layers[num_layers:]
        set_kept_heads(self.model.config, kept_heads(self.model.config)[:num_layers])
        self.model.config.num_hidden_layers = num_layers

    @abstractmethod
    def _embeddings(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        position_ids: Tensor,
        token_type_ids: Tensor | None,
    ) -> Tensor:
        """The states before layer 1."""

    @abstractmethod
    def _context(self, hidden: Tensor, attention_mask: Tensor) -> Context:
        """What the layers take beside the states; depends on padding and length alone."""

    @abstractmethod
    def _run(self, layer: int, state: LayerState[Context]) -> Tensor:
        """The states after a layer."""

    def _library_mask(self, hidden: Tensor, attention_mask: Tensor) -> AttentionMask:
        """The mask as the library makes it for the model's attention implementation."""
        if self.padding_mask is not None:
            return self.padding_mask(hidden, attention_mask)
        mask: AttentionMask = create_bidirectional_mask(
            config=self.model.config, inputs_embeds=hidden, attention_mask=attention_mask
        )
        return mask

    def _check_layer(self, layer: int) -> None:
        if not 1 <= layer <= self.num_layers:
            raise ValueError(f"no layer {layer}: this encoder has layers 1 … {self.num_layers}")

    def _check_length(self, attention_mask: Tensor) -> None:
        if attention_mask.shape[1] <= self.max_length:
            return  # whatever is padding: nothing is computed, nothing waits for the device
        longest = int(attention_mask.long().sum(dim=1).max())
        if longest > self.max_length:
            raise ValueError(
                f"texts must have at most {self.max_length} tokens, special ones included, "
                f"found {longest}: truncate them"
            )


def positions(attention_mask: Tensor, *, first: int) -> Tensor:
    """The positions of the tokens of each text, counted from `first`.

    Padding gets the position before the first, as in RoBERTa, or 0 if there is none.

    >>> import torch
    >>> mask = torch.tensor([[1, 1, 0], [0, 1, 1]])
    >>> positions(mask, first=2)
    tensor([[2, 3, 1],
            [1, 2, 3]])
    >>> positions(mask, first=0)
    tensor([[0, 1, 0],
            [0, 0, 1]])
    """
    tokens = attention_mask.long()
    return (tokens.cumsum(dim=1) * tokens + first - 1).clamp(min=0)
