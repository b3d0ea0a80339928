"""Encoders whose layers take the states and a mask, and nothing else."""

from typing import ClassVar

from torch import Tensor, nn

from exitwise.encoders.base import LayerState, LayerwiseEncoder, dense_layer_macs


class PlainEncoder(LayerwiseEncoder):
    """BERT, ERNIE and ELECTRA."""

    model_types: ClassVar[tuple[str, ...]] = ("bert", "ernie", "electra")

    @property
    def layers(self) -> nn.ModuleList:
        """The modules of the layers."""
        return self.model.encoder.layer

    def layer_macs(self, length: int, layer: int = 1) -> int:
        """The plain count."""
        config = self.model.config
        return dense_layer_macs(
            length, width=config.hidden_size, intermediate=config.intermediate_size
        )

    def _embeddings(
        self, input_ids: Tensor, position_ids: Tensor, token_type_ids: Tensor | None
    ) -> Tensor:
        hidden = self.model.embeddings(
            input_ids=input_ids, position_ids=position_ids, token_type_ids=token_type_ids
        )
        # ELECTRA's embeddings may be narrower than its layers.
        project = getattr(self.model, "embeddings_project", None)
        return hidden if project is None else project(hidden)

    def _run(self, layer: int, state: LayerState) -> Tensor:
        module = self.layers[layer - 1]
        return module(state.hidden, state.context["attention_mask"])


class RobertaEncoder(PlainEncoder):
    """RoBERTa, XLM-RoBERTa and CamemBERT: positions start after that of padding."""

    model_types: ClassVar[tuple[str, ...]] = ("roberta", "xlm-roberta", "camembert")

    def _embeddings(
        self, input_ids: Tensor, position_ids: Tensor, token_type_ids: Tensor | None
    ) -> Tensor:
        offset = self.model.embeddings.padding_idx + 1
        return super()._embeddings(input_ids, position_ids + offset, token_type_ids)


class DistilBertEncoder(PlainEncoder):
    """DistilBERT: no token types, other names."""

    model_types: ClassVar[tuple[str, ...]] = ("distilbert",)

    @property
    def layers(self) -> nn.ModuleList:
        """The modules of the layers."""
        return self.model.transformer.layer

    def layer_macs(self, length: int, layer: int = 1) -> int:
        """The plain count."""
        config = self.model.config
        return dense_layer_macs(length, width=config.dim, intermediate=config.hidden_dim)

    def _embeddings(
        self, input_ids: Tensor, position_ids: Tensor, token_type_ids: Tensor | None
    ) -> Tensor:
        return self.model.embeddings(input_ids, position_ids=position_ids)
