"""DeBERTa v2 and v3: attention over content and relative positions, each on its own."""

from typing import ClassVar, NamedTuple

from jaxtyping import Float, Int
from torch import Tensor

from exitwise.encoders.base import LayerState, LayerwiseEncoder
from exitwise.encoders.families import register


class DebertaContext(NamedTuple):
    """What DeBERTa's layers take.

    Attributes:
        mask: 1 where both tokens of a pair are there.
        relative_positions: the bucket of each distance.
        relative_embeddings: the embedding of each bucket; learnt, so it carries gradient.
    """

    mask: Int[Tensor, "n 1 l l"]
    relative_positions: Int[Tensor, "1 l l"] | None
    relative_embeddings: Float[Tensor, "b d"] | None


@register
class DebertaEncoder(LayerwiseEncoder[DebertaContext]):
    """DeBERTa v2 and v3; in some v2 models a convolution runs beside layer 1."""

    model_types: ClassVar[tuple[str, ...]] = ("deberta-v2",)

    @property
    def has_position_table(self) -> bool:
        """Only where absolute positions are added too, which no released model does."""
        return bool(self.model.config.position_biased_input)

    def layer_macs(self, length: int, layer: int = 1) -> int:
        r"""The plain count, and what relative positions and the convolution add.

        $$P \left(2 s\, d^2 + 2 s\, d L\right) + [m = 1]\, k d^2 L / g$$

        The $2s$ relative embeddings are projected anew in every layer and batch, here counted on
        one text, and compared with each token, for content to position and position to content
        ($P$ of the two). The projections come twice, whatever $P$, where they are the layer's own
        key and query. $k$ is the width of the convolution, $g$ its groups.
        """
        macs = super().layer_macs(length, layer) + self._relative_macs(length)
        return macs + (self._convolution_macs(length) if layer == 1 else 0)

    def _relative_macs(self, length: int) -> int:
        attention = self._modules.encoder.layer[0].attention.self
        if not attention.relative_attention:
            return 0
        num_embeddings = 2 * int(attention.pos_ebd_size)
        num_products = len({"c2p", "p2c"} & set(attention.pos_att_type))
        num_projections = 2 if attention.share_att_key else num_products
        projections = num_projections * num_embeddings * self.width**2
        return projections + num_products * num_embeddings * self.width * length

    def _convolution_macs(self, length: int) -> int:
        if self._modules.encoder.conv is None:
            return 0
        convolution = self._modules.encoder.conv.conv
        return int(convolution.weight.numel()) * length

    def _embeddings(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        position_ids: Tensor,
        token_type_ids: Tensor | None,
    ) -> Tensor:
        hidden: Tensor = self._modules.embeddings(
            input_ids=input_ids,
            position_ids=position_ids,
            token_type_ids=token_type_ids,
            mask=attention_mask,  # padding is set to zero, as the convolution takes it
        )
        return hidden

    def _context(self, hidden: Tensor, attention_mask: Tensor) -> DebertaContext:
        encoder = self._modules.encoder
        return DebertaContext(
            encoder.get_attention_mask(attention_mask.long()),
            encoder.get_rel_pos(hidden),
            encoder.get_rel_embedding(),
        )

    def _run(self, layer: int, state: LayerState[DebertaContext]) -> Tensor:
        mask, relative_positions, relative_embeddings = state.context
        hidden: Tensor = self.layers[layer - 1](
            state.hidden,
            mask,
            relative_pos=relative_positions,
            rel_embeddings=relative_embeddings,
        )[0]
        convolution = self._modules.encoder.conv
        if layer == 1 and convolution is not None:
            hidden = convolution(state.hidden, hidden, state.attention_mask.long())
        return hidden
