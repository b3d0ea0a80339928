"""What every exit shares: its settings, the token it reads, its classifier and its output."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from exitwise.outputs import ExitOutput
from exitwise.registry import Registry


@dataclass(frozen=True, kw_only=True)
class ExitConfig:
    """What every exit lets you choose; plain values only, so that it can be saved.

    Attributes:
        dropout: on $h^e$ before the classifier (and inside the exit, where a member says so).
        bias: whether the classifier has a bias. The paper's has none (Eq. 3); a bias is no part
            of a label embedding.
        embedding: whether `ExitOutput.embedding`, which the contrastive losses compare, is
            $h^e$ before or after the classifier's dropout. The paper does not say; dropout
            belongs to the classifier, hence the default.
    """

    registry: ClassVar[Registry["Exit"]] = Registry("exit", suffix="Exit")

    dropout: float = 0.1
    bias: bool = False
    embedding: Literal["before_dropout", "after_dropout"] = "before_dropout"

    def __post_init__(self) -> None:
        if not 0.0 <= self.dropout < 1.0:
            raise ValueError(f"dropout must be at least 0 and below 1, found {self.dropout}")
        if self.embedding not in ("before_dropout", "after_dropout"):
            raise ValueError(
                f"embedding must be before_dropout or after_dropout, found {self.embedding!r}"
            )

    def embedding_width(self, encoder_width: int) -> int:
        """$d_e$, the width of $h^e$ and of the label embeddings."""
        return encoder_width


class Exit(nn.Module, ABC):
    r"""A classifier on the hidden states after one layer.

    $$\mathrm{logits} = \mathrm{dropout}(h^e)\, W$$

    A member says how $h^e$ comes from the hidden states (`embed`); the rest stands here. All
    weights start at $N(0, 0.02^2)$ and all biases at 0, drawn from torch's global generator.
    """

    config_class: ClassVar[type[ExitConfig]]

    def __init__(self, config: ExitConfig, *, encoder_width: int, num_labels: int) -> None:
        super().__init__()
        self.config = config
        self.dropout = nn.Dropout(config.dropout)
        width = config.embedding_width(encoder_width)
        self.classifier = linear(width, num_labels, bias=config.bias)

    @abstractmethod
    def embed(
        self,
        hidden: Float[Tensor, "n l d"],
        attention_mask: Int[Tensor, "n l"] | Bool[Tensor, "n l"],
    ) -> Float[Tensor, "n e"]:
        """$h^e$, one vector a sample. Padding must not change it, on whichever side it stands."""

    @classmethod
    def embed_together(
        cls,
        exits: Sequence[Any],  # of this very class, which beartype cannot check
        hidden: Float[Tensor, "m n l d"],
        attention_mask: Int[Tensor, "n l"] | Bool[Tensor, "n l"],
    ) -> Float[Tensor, "m n e"]:
        """`embed` of exits of one kind and mode, each on the hidden states of its own layer.

        A member whose maps are small does them for all exits at once (`linear_together`).
        """
        pairs = zip(exits, hidden, strict=True)
        return torch.stack([exit.embed(states, attention_mask) for exit, states in pairs])

    @abstractmethod
    def macs(self, length: int) -> int:
        """Multiply-accumulates that `forward` spends on one sample of `length` tokens.

        Counted as in `LayerwiseEncoder.layer_macs`: matrix products only.
        """

    def forward(
        self,
        hidden: Float[Tensor, "n l d"],
        attention_mask: Int[Tensor, "n l"] | Bool[Tensor, "n l"],
    ) -> ExitOutput:
        """Reads the hidden states after one layer; the mask is 1 on tokens and 0 on padding."""
        (output,) = outputs_together([self], [hidden], attention_mask)
        return output


def outputs_together(
    exits: Sequence[Exit],
    hidden: Sequence[Float[Tensor, "n l d"]],
    attention_mask: Int[Tensor, "n l"] | Bool[Tensor, "n l"],
) -> list[ExitOutput]:
    """What exits of one kind and mode say, each of the hidden states of its own layer.

    The numbers are those of each exit alone, up to the rounding of a grouped matrix product, and
    its parameters stay its own; only dropout draws its masks for all at once.
    """
    first = exits[0]
    embeddings = first.embed_together(exits, stacked(hidden), attention_mask)  # [m, n, e]
    dropped = first.dropout(embeddings)
    logits = linear_together([exit.classifier for exit in exits], dropped)  # [m, n, k]
    chosen = embeddings if first.config.embedding == "before_dropout" else dropped
    return [
        ExitOutput(logits=each, embedding=embedding, label_embeddings=exit.classifier.weight)
        for exit, each, embedding in zip(exits, logits, chosen, strict=True)
    ]


def linear_together(
    layers: Sequence[nn.Linear], inputs: Float[Tensor, "m t i"]
) -> Float[Tensor, "m t o"]:
    """Linear maps of one shape, each on inputs of its own, as one grouped matrix product.

    One map alone takes the same product, so that an exit's numbers do not depend on its company.
    """
    weights = stacked([layer.weight for layer in layers]).transpose(1, 2)  # [m, i, o]
    biases = [layer.bias for layer in layers if layer.bias is not None]
    if not biases:
        return torch.bmm(inputs, weights)
    return torch.baddbmm(stacked(biases)[:, None], inputs, weights)


def stacked(tensors: Sequence[Tensor]) -> Tensor:
    """`torch.stack`, which copies, where there is more than one."""
    return tensors[0][None] if len(tensors) == 1 else torch.stack(tuple(tensors))


EXITS = ExitConfig.registry


def linear(inputs: int, outputs: int, *, bias: bool = True) -> nn.Linear:
    """A linear map as all exits start with: weights from $N(0, 0.02^2)$, bias 0."""
    layer = nn.Linear(inputs, outputs, bias=bias)
    nn.init.normal_(layer.weight, std=0.02)
    if bias:
        nn.init.zeros_(layer.bias)
    return layer


def first_token_index(
    attention_mask: Int[Tensor, "n l"] | Bool[Tensor, "n l"],
) -> Int[Tensor, " n"]:
    """Where each sample begins: its first token that is not padding.

    A sample of padding alone begins at 0, so that its result is meaningless but finite.

    >>> first_token_index(torch.tensor([[1, 1, 0], [0, 1, 1], [0, 0, 0]]))
    tensor([0, 1, 0])
    """
    return attention_mask.int().argmax(dim=1)


def first_token(
    states: Float[Tensor, "n l d"], attention_mask: Int[Tensor, "n l"] | Bool[Tensor, "n l"]
) -> Float[Tensor, "n d"]:
    """The state of each sample's first token that is not padding ([CLS], <s>)."""
    rows = torch.arange(len(states), device=states.device)
    return states[rows, first_token_index(attention_mask)]
