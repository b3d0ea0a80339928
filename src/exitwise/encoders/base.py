"""Walking an encoder layer by layer: what all families share."""

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.masking_utils import create_bidirectional_mask

Context = dict[str, Tensor | None]


class LayerState(NamedTuple):
    """Where a batch stands between two layers.

    Attributes:
        hidden: the states after the last layer that ran.
        attention_mask: 1 on tokens, 0 on padding.
        context: what the family's layers take beside the states.
    """

    hidden: Float[Tensor, "n l d"]
    attention_mask: Int[Tensor, "n l"] | Bool[Tensor, "n l"]
    context: Context


class LayerwiseEncoder(ABC):
    """An encoder of transformers, one layer at a time, by its own modules.

    Layers are numbered 1 … M, as in the paper and in `hidden_states[m]`. A family says how to
    embed, what its layers take beside the states, and how to call them.

    Args:
        model: the bare encoder, which stays as it is.
    """

    model_types: ClassVar[tuple[str, ...]]

    def __init__(self, model: PreTrainedModel) -> None:
        self.model = model

    @property
    @abstractmethod
    def layers(self) -> nn.ModuleList:
        """The modules of the layers."""

    @property
    def num_layers(self) -> int:
        """M."""
        return int(self.model.config.num_hidden_layers)

    @property
    def width(self) -> int:
        """d, the width of the hidden states."""
        return int(self.model.config.hidden_size)

    @property
    def input_names(self) -> tuple[str, ...]:
        """What `embed` makes use of; a tokenizer may give more."""
        num_types = getattr(self.model.config, "type_vocab_size", 0)
        types = ("token_type_ids",) if num_types > 1 else ()
        return ("input_ids", "attention_mask", *types)

    def embed(
        self,
        input_ids: Int[Tensor, "n l"],
        attention_mask: Int[Tensor, "n l"] | Bool[Tensor, "n l"],
        token_type_ids: Int[Tensor, "n l"] | None = None,
    ) -> LayerState:
        """The state before layer 1.

        Positions count tokens, not padding, so that padding on either side changes nothing.
        Token types are left out where the encoder knows a single one.
        """
        if "token_type_ids" not in self.input_names:
            token_type_ids = None
        hidden = self._embeddings(input_ids, positions(attention_mask), token_type_ids)
        return LayerState(hidden, attention_mask, self._context(hidden, attention_mask))

    def run_layer(self, layer: int, state: LayerState) -> LayerState:
        """The state after a layer, from that after the layer before it."""
        if not 1 <= layer <= self.num_layers:
            raise ValueError(f"no layer {layer}: this encoder has layers 1 … {self.num_layers}")
        return state._replace(hidden=self._run(layer, state))

    def keep_rows(self, state: LayerState, rows: Int[Tensor, " r"]) -> LayerState:
        """Some rows of the batch, in the given order, without the padding that none needs."""
        mask = state.attention_mask[rows]
        needed = mask.bool().any(dim=0).nonzero().flatten()
        columns = slice(int(needed[0]), int(needed[-1]) + 1) if len(needed) else slice(0, 1)
        hidden = state.hidden[rows, columns]
        mask = mask[:, columns]
        return LayerState(hidden, mask, self._context(hidden, mask))

    @abstractmethod
    def layer_macs(self, length: int, layer: int = 1) -> int:
        """Multiply-accumulates of a layer on one text of that many tokens (matrix products)."""

    @abstractmethod
    def _embeddings(
        self, input_ids: Tensor, position_ids: Tensor, token_type_ids: Tensor | None
    ) -> Tensor:
        """The states before layer 1; positions count from 0."""

    @abstractmethod
    def _run(self, layer: int, state: LayerState) -> Tensor:
        """The states after a layer."""

    def _context(self, hidden: Tensor, attention_mask: Tensor) -> Context:
        """What the layers take beside the states: here the library's mask, in its own form."""
        mask = create_bidirectional_mask(
            config=self.model.config, inputs_embeds=hidden, attention_mask=attention_mask.long()
        )
        return {"attention_mask": mask}


def positions(attention_mask: Tensor) -> Tensor:
    """The position of each token among the tokens of its text, from 0; 0 on padding.

    >>> import torch
    >>> positions(torch.tensor([[1, 1, 0], [0, 1, 1]]))
    tensor([[0, 1, 0],
            [0, 0, 1]])
    """
    return (attention_mask.long().cumsum(dim=1) - 1).clamp(min=0) * attention_mask.long()


def dense_layer_macs(length: int, *, width: int, intermediate: int) -> int:
    """A plain transformer layer: four projections, two attention products, two dense maps.

    $4 d^2 L + 2 d L^2 + 2 d d_{ff} L$. The two products of attention, scores and weighted sum,
    are $d L^2$ each, whatever the number of heads.

    >>> dense_layer_macs(16, width=768, intermediate=3072)
    113639424
    """
    return 4 * width**2 * length + 2 * width * length**2 + 2 * width * intermediate * length
