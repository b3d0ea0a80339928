"""What every exit shares: its settings, the token it reads, its classifier and its output."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

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
        embedding = self.embed(hidden, attention_mask)
        dropped = self.dropout(embedding)
        return ExitOutput(
            logits=self.classifier(dropped),
            embedding=embedding if self.config.embedding == "before_dropout" else dropped,
            label_embeddings=self.classifier.weight,
        )


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
