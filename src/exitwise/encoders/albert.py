"""ALBERT: layers that share their weights, after narrow embeddings."""

from typing import ClassVar

from torch import Tensor

from exitwise.encoders.base import AttentionMask, Layers, LayerState, LayerwiseEncoder
from exitwise.encoders.families import register
from exitwise.errors import UnsupportedError


@register
class AlbertEncoder(LayerwiseEncoder[AttentionMask]):
    """ALBERT: layer m runs the group of weights that it belongs to.

    With M layers and G groups, layer m belongs to group ⌊(m − 1) G / M⌋. The released models have
    one group of one layer: all layers are one module.
    """

    model_types: ClassVar[tuple[str, ...]] = ("albert",)

    @property
    def layers(self) -> Layers:
        """The module of each layer 1 … M, repeated where layers share it."""
        groups = self._modules.encoder.albert_layer_groups
        return tuple(
            groups[group] for group in layer_groups(self.num_layers, num_groups=len(groups))
        )

    def layer_macs(self, length: int, layer: int = 1) -> int:
        """The plain count, for each repetition inside a group."""
        return super().layer_macs(length, layer) * int(self.model.config.inner_group_num)

    def cut(self, num_layers: int) -> None:
        """Lowers the number of layers, and drops the groups that only later layers use.

        Raises:
            UnsupportedError: the library would divide the layers that stay among their groups in
                another way than before.
        """
        self._check_layer(num_layers)
        groups = self._modules.encoder.albert_layer_groups
        kept = layer_groups(self.num_layers, num_groups=len(groups))[:num_layers]
        num_groups = kept[-1] + 1
        if layer_groups(num_layers, num_groups=num_groups) != kept:
            raise UnsupportedError(
                f"an ALBERT of {self.num_layers} layers in {len(groups)} groups cannot be cut to "
                f"{num_layers} layers: cut it after a whole group"
            )
        del groups[num_groups:]
        self.model.config.num_hidden_layers = num_layers
        self.model.config.num_hidden_groups = num_groups

    def _embeddings(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        position_ids: Tensor,
        token_type_ids: Tensor | None,
    ) -> Tensor:
        narrow = self._modules.embeddings(
            input_ids=input_ids, position_ids=position_ids, token_type_ids=token_type_ids
        )
        hidden: Tensor = self._modules.encoder.embedding_hidden_mapping_in(narrow)
        return hidden

    def _context(self, hidden: Tensor, attention_mask: Tensor) -> AttentionMask:
        return self._library_mask(hidden, attention_mask)

    def _run(self, layer: int, state: LayerState[AttentionMask]) -> Tensor:
        hidden: Tensor = self.layers[layer - 1](state.hidden, state.context)
        return hidden


def layer_groups(num_layers: int, *, num_groups: int) -> list[int]:
    """The group of each layer, groups counted from 0 as the library does.

    >>> layer_groups(6, num_groups=2)
    [0, 0, 0, 1, 1, 1]
    """
    # The library's own expression: another order of the factors rounds differently.
    return [int(index / (num_layers / num_groups)) for index in range(num_layers)]
