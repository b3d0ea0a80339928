"""The part of a classifier between two exits, as a module whose graph is static."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from exitwise.encoders import layerwise
from exitwise.export.static_exits import static_exit
from exitwise.modeling import MultiExitForSequenceClassification


class Segment(nn.Module):
    """The layers after the exit at `after` (0 is the start) up to that at `to`, and that exit.

    Padding stands on the right, as the engines put it: the first token is the first column.
    """

    def __init__(
        self,
        model: MultiExitForSequenceClassification,
        *,
        after: int,
        to: int,
        is_last: bool = False,
    ) -> None:
        super().__init__()
        self.is_last = is_last
        self.numbers = range(after + 1, to + 1)
        self._walk = layerwise(model.encoder)
        self._walk.padding_mask = additive_mask
        # Registered, so that their weights and no others belong to the graph.
        self.layers = nn.ModuleList(self._walk.layers[layer - 1] for layer in self.numbers)
        self.exit = static_exit(model.exit(to))

    def run(
        self, hidden: Float[Tensor, "n l d"], attention_mask: Int[Tensor, "n l"]
    ) -> tuple[Tensor, ...]:
        """The states after the last layer [n, l, d] and the logits of its exit [n, k].

        The last segment gives no states, since nobody goes on from there.
        """
        state = self._walk.resume(hidden, attention_mask)
        for layer in self.numbers:
            state = self._walk.run_layer(layer, state)
        logits = self.exit(state.hidden, additive_mask(hidden, attention_mask))
        return (logits,) if self.is_last else (state.hidden, logits)

    def forward(self, hidden: Tensor, attention_mask: Tensor) -> tuple[Tensor, ...]:
        """From the states after the exit before this segment."""
        return self.run(hidden, attention_mask)


class FirstSegment(Segment):
    """The embeddings, and the layers up to the first exit that is kept."""

    def __init__(
        self, model: MultiExitForSequenceClassification, *, to: int, is_last: bool = False
    ) -> None:
        super().__init__(model, after=0, to=to, is_last=is_last)
        self.encoder = model.encoder  # its embeddings; what is not used is left out of the graph

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor | None = None
    ) -> tuple[Tensor, ...]:
        """From the tokens."""
        hidden = self._walk.embed(input_ids, attention_mask, token_type_ids).hidden
        return self.run(hidden, attention_mask)


def additive_mask(
    hidden: Float[Tensor, "n l d"], attention_mask: Int[Tensor, "n l"]
) -> Float[Tensor, "n 1 1 l"]:
    """0 on tokens and the lowest number on padding, added to the scores of attention.

    As the library's own mask for eager attention, in three operations instead of twenty.
    """
    lowest = torch.finfo(hidden.dtype).min
    return ((1 - attention_mask).to(hidden.dtype) * lowest)[:, None, None]
