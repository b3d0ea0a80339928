"""LayerDrop: layers are left out at random in training, so that fewer will do afterwards."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from exitwise.compression.base import Compression, Fit
from exitwise.compression.kept_layers import check_keep, with_layers
from exitwise.compression.one_fit import OneFitCompression
from exitwise.compression.trainee import Inputs, Trainee
from exitwise.encoders import layerwise
from exitwise.losses.contrastive import float32_or_better
from exitwise.modeling import MultiExitForSequenceClassification


@Compression.registry.register
@dataclass(frozen=True, kw_only=True)
class LayerDropCompression(OneFitCompression):
    r"""Fine-tunes with layers left out at random, then keeps some, without further training.

    In each forward pass of training every layer is left out with probability p, on its own: what
    comes in goes out unchanged (Fan, Grave and Joulin 2020, "Reducing Transformer Depth on Demand
    with Structured Dropout", https://arxiv.org/abs/1909.11556). `every_other` says which layers
    stay. For a depth that is known beforehand, their section 3.2 gives the best rate as
    $p = 1 - r / N$, with r of N layers to stay.

    Left out is the larger part of the paper: its encoders are pre-trained with LayerDrop as well,
    which is why they lose little when layers go. An encoder that was pre-trained whole loses more.

    Attributes:
        keep: layers that stay.
        rate: p; the paper trains with 0.2, and with 0.5 where half the layers are to go.
    """

    keep: int
    rate: float = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.rate < 1:
            raise ValueError(f"rate must be from 0 up to 1, found {self.rate}")

    def kept_layers(self, num_layers: int) -> tuple[int, ...]:
        """Those of `every_other`."""
        return every_other(self.keep, num_layers)

    def compress(
        self, model: MultiExitForSequenceClassification, fit: Fit
    ) -> MultiExitForSequenceClassification:
        """Trains the whole model, then takes the layers that stay."""
        self.check(model.encoder.config.model_type)
        kept = self.kept_layers(model.num_layers)
        self.train(LayerDropped(model, rate=self.rate), fit)
        return with_layers(model, kept)


class LayerDropped(Trainee):
    """A model whose layers run with some probability in training, and always in evaluation.

    The layers of a pass are drawn from torch's global generator.
    """

    def __init__(self, model: MultiExitForSequenceClassification, *, rate: float) -> None:
        super().__init__()
        self.model = model
        self.rate = rate
        self.train(model.training)

    def loss(self, inputs: Inputs, labels: Int[Tensor, " n"]) -> Float[Tensor, ""]:
        """Cross-entropy of the last exit."""
        last = self.model.num_layers
        walk = layerwise(self.model.encoder)
        state = walk.embed(*inputs)
        for layer in self.drawn_layers() if self.training else range(1, last + 1):
            state = walk.run_layer(layer, state)
        outputs = self.model.exits_from_hidden({last: state.hidden}, inputs.attention_mask)
        return cross_entropy(float32_or_better(outputs[last].logits), labels)

    def drawn_layers(self) -> Sequence[int]:
        """The layers that run in this pass, in their order."""
        runs = torch.rand(self.model.num_layers) >= self.rate
        return [place + 1 for place in runs.nonzero().flatten().tolist()]


def every_other(num_kept: int, num_layers: int) -> tuple[int, ...]:
    r"""The layers that stay where as many go, evenly spread, the last one among those that go.

    The paper leaves out layer d where $d \equiv 0 \pmod{\lfloor 1 / p \rfloor}$, p the share that
    goes. Here layer $\lceil j\, N / g \rceil$ is left out for $j = 1 \dots g$, with g the number of
    layers that go: the same where g divides N, and defined for every g.

    >>> every_other(6, 12), every_other(9, 12)
    ((1, 3, 5, 7, 9, 11), (1, 2, 3, 5, 6, 7, 9, 10, 11))
    >>> every_other(4, 12), every_other(3, 3)
    ((1, 4, 7, 10), (1, 2, 3))
    """
    check_keep(num_kept, num_layers)
    gone = num_layers - num_kept
    dropped = {-(-num_layers * place // gone) for place in range(1, gone + 1)}
    return tuple(layer for layer in range(1, num_layers + 1) if layer not in dropped)
