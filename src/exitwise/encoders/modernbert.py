"""ModernBERT: global and local attention, rotary positions, a norm after the last layer."""

from typing import ClassVar, NamedTuple

from jaxtyping import Float
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.masking_utils import create_bidirectional_sliding_window_mask

from exitwise.encoders.base import AttentionMask, Layers, LayerState, LayerwiseEncoder, positions
from exitwise.encoders.families import register


class Attention(NamedTuple):
    """What the layers of one kind of attention take.

    Attributes:
        mask: the attention mask; in local layers it hides distant tokens as well.
        rotation: cosine and sine of the angle of each position.
    """

    mask: AttentionMask
    rotation: tuple[Float[Tensor, "n l h"], Float[Tensor, "n l h"]]


# By the library's name of the kind: "full_attention", "sliding_attention".
ModernBertContext = dict[str, Attention]


@register
class ModernBertEncoder(LayerwiseEncoder[ModernBertContext]):
    """ModernBERT: the states after layer M include the final norm, those before it do not.

    A shortened encoder has no final norm, because the layer that is now its last never had one.
    The library's configuration cannot say so: `config.final_norm = False` does, for this walk.
    """

    model_types: ClassVar[tuple[str, ...]] = ("modernbert",)

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__(model)
        if not getattr(model.config, "final_norm", True):
            model.final_norm = nn.Identity()  # built by the library, which does not know

    @property
    def layers(self) -> Layers:
        """The modules of layers 1 … M."""
        layers: Layers = self._modules.layers
        return layers

    @property
    def has_position_table(self) -> bool:
        """No: positions are angles."""
        return False

    def layer_macs(self, length: int, layer: int = 1) -> int:
        """The plain count, and a third map in the feed-forward part, which is gated.

        Local layers count as global ones: that is what eager attention computes.
        """
        config = self.model.config
        gate = config.hidden_size * config.intermediate_size * length
        return super().layer_macs(length, layer) + int(gate)

    def cut(self, num_layers: int) -> None:
        """Lets go of the layers after the first so many, and of the final norm with them."""
        if num_layers == self.num_layers:
            return
        super().cut(num_layers)
        config = self.model.config
        config.layer_types = config.layer_types[:num_layers]
        config.final_norm = False
        self._modules.final_norm = nn.Identity()

    def _embeddings(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        position_ids: Tensor,
        token_type_ids: Tensor | None,
    ) -> Tensor:
        hidden: Tensor = self._modules.embeddings(input_ids=input_ids)
        return hidden

    def _context(self, hidden: Tensor, attention_mask: Tensor) -> ModernBertContext:
        position_ids = positions(attention_mask, first=self.first_position)
        return {
            kind: Attention(
                self._mask(kind, hidden, attention_mask),
                self._modules.rotary_emb(hidden, position_ids, kind),
            )
            for kind in sorted(set(self.model.config.layer_types))
        }

    def _mask(self, kind: str, hidden: Tensor, attention_mask: Tensor) -> AttentionMask:
        if kind == "full_attention":
            return self._library_mask(hidden, attention_mask)
        mask: AttentionMask = create_bidirectional_sliding_window_mask(
            config=self.model.config, inputs_embeds=hidden, attention_mask=attention_mask
        )
        return mask

    def _run(self, layer: int, state: LayerState[ModernBertContext]) -> Tensor:
        mask, rotation = state.context[self.model.config.layer_types[layer - 1]]
        hidden: Tensor = self.layers[layer - 1](
            state.hidden, attention_mask=mask, position_embeddings=rotation
        )
        if layer == self.num_layers:
            hidden = self._modules.final_norm(hidden)
        return hidden
