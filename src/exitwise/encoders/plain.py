"""Encoders whose layers take the states and a mask, and nothing else."""

from typing import ClassVar

from torch import Tensor

from exitwise.encoders.base import AttentionMask, Layers, LayerState, LayerwiseEncoder
from exitwise.encoders.families import register
from exitwise.encoders.macs import dense_layer_macs


@register
class PlainEncoder(LayerwiseEncoder[AttentionMask]):
    """BERT, ERNIE and ELECTRA, whose embeddings may be narrower than its layers."""

    model_types: ClassVar[tuple[str, ...]] = ("bert", "ernie", "electra")

    def _embeddings(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        position_ids: Tensor,
        token_type_ids: Tensor | None,
    ) -> Tensor:
        hidden: Tensor = self._modules.embeddings(
            input_ids=input_ids, position_ids=position_ids, token_type_ids=token_type_ids
        )
        if hasattr(self.model, "embeddings_project"):
            hidden = self._modules.embeddings_project(hidden)
        return hidden

    def _context(self, hidden: Tensor, attention_mask: Tensor) -> AttentionMask:
        return self._library_mask(hidden, attention_mask)

    def _run(self, layer: int, state: LayerState[AttentionMask]) -> Tensor:
        hidden: Tensor = self.layers[layer - 1](state.hidden, state.context)
        return hidden


@register
class RobertaEncoder(PlainEncoder):
    """RoBERTa, XLM-RoBERTa and CamemBERT: positions start after that of padding."""

    model_types: ClassVar[tuple[str, ...]] = ("roberta", "xlm-roberta", "camembert")

    @property
    def first_position(self) -> int:
        """One after the position of padding."""
        return int(self._modules.embeddings.padding_idx) + 1


@register
class DistilBertEncoder(PlainEncoder):
    """DistilBERT: no token types, other names."""

    model_types: ClassVar[tuple[str, ...]] = ("distilbert",)

    @property
    def layers(self) -> Layers:
        """The modules of layers 1 … M."""
        layers: Layers = self._modules.transformer.layer
        return layers

    def layer_macs(self, length: int, layer: int = 1) -> int:
        """The plain count."""
        self._check_layer(layer)
        config = self.model.config
        return dense_layer_macs(
            length,
            width=config.dim,
            intermediate=config.hidden_dim,
            attention_width=self.attention_width(layer),
        )

    def _embeddings(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        position_ids: Tensor,
        token_type_ids: Tensor | None,
    ) -> Tensor:
        hidden: Tensor = self._modules.embeddings(input_ids, position_ids=position_ids)
        return hidden
