"""What is trained where a loss needs more than a model's labels."""

from abc import ABC, abstractmethod
from typing import NamedTuple

from jaxtyping import Float, Int
from torch import Tensor, nn


class Inputs(NamedTuple):
    """The texts of a batch, in the order in which encoders take them.

    Attributes:
        input_ids: the tokens.
        attention_mask: 1 where a token is one, 0 at padding.
        token_type_ids: which of two texts a token is in, where the encoder asks for it.
    """

    input_ids: Int[Tensor, "n l"]
    attention_mask: Int[Tensor, "n l"]
    token_type_ids: Int[Tensor, "n l"] | None


class Trainee(nn.Module, ABC):
    """A module whose forward pass is the loss of a batch, as `Fit` trains it."""

    def forward(
        self,
        input_ids: Int[Tensor, "n l"],
        attention_mask: Int[Tensor, "n l"],
        labels: Int[Tensor, " n"],
        token_type_ids: Int[Tensor, "n l"] | None = None,
    ) -> dict[str, Float[Tensor, ""]]:
        """`{"loss": …}`, which is where the Trainer looks for it."""
        return {"loss": self.loss(Inputs(input_ids, attention_mask, token_type_ids), labels)}

    @abstractmethod
    def loss(self, inputs: Inputs, labels: Int[Tensor, " n"]) -> Float[Tensor, ""]:
        """The mean loss of the texts."""
