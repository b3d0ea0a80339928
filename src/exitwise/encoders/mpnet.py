"""MPNet: the layers share a bias by relative position."""

from typing import ClassVar

from torch import Tensor

from exitwise.encoders.base import Context, LayerState
from exitwise.encoders.plain import PlainEncoder


class MPNetEncoder(PlainEncoder):
    """MPNet: a plain walk without the position bias would be wrong without an error."""

    model_types: ClassVar[tuple[str, ...]] = ("mpnet",)

    def _embeddings(
        self, input_ids: Tensor, position_ids: Tensor, token_type_ids: Tensor | None
    ) -> Tensor:
        offset = self.model.embeddings.padding_idx + 1
        return self.model.embeddings(input_ids=input_ids, position_ids=position_ids + offset)

    def _run(self, layer: int, state: LayerState) -> Tensor:
        module = self.layers[layer - 1]
        context = state.context
        return module(state.hidden, context["attention_mask"], context["position_bias"])[0]

    def _context(self, hidden: Tensor, attention_mask: Tensor) -> Context:
        bias = self.model.encoder.compute_position_bias(hidden)
        return super()._context(hidden, attention_mask) | {"position_bias": bias}
