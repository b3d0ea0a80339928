"""MPNet: the layers share a bias by relative position."""

from typing import ClassVar, NamedTuple

from jaxtyping import Float
from torch import Tensor

from exitwise.encoders.base import AttentionMask, LayerState, LayerwiseEncoder
from exitwise.encoders.families import register


class MPNetContext(NamedTuple):
    """What MPNet's layers take.

    Attributes:
        mask: the attention mask.
        position_bias: added to the scores, by head and distance; learnt, so it carries gradient.
    """

    mask: AttentionMask
    position_bias: Float[Tensor, "n h l l"]


@register
class MPNetEncoder(LayerwiseEncoder[MPNetContext]):
    """MPNet: a plain walk, without the position bias, gives wrong numbers and no error."""

    model_types: ClassVar[tuple[str, ...]] = ("mpnet",)

    @property
    def first_position(self) -> int:
        """One after the position of padding, as in RoBERTa."""
        return int(self._modules.embeddings.padding_idx) + 1

    def _embeddings(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        position_ids: Tensor,
        token_type_ids: Tensor | None,
    ) -> Tensor:
        hidden: Tensor = self._modules.embeddings(input_ids=input_ids, position_ids=position_ids)
        return hidden

    def _context(self, hidden: Tensor, attention_mask: Tensor) -> MPNetContext:
        bias = self._modules.encoder.compute_position_bias(hidden)
        return MPNetContext(self._library_mask(hidden, attention_mask), bias)

    def _run(self, layer: int, state: LayerState[MPNetContext]) -> Tensor:
        mask, position_bias = state.context
        hidden: Tensor = self.layers[layer - 1](state.hidden, mask, position_bias)[0]
        return hidden
