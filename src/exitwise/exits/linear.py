"""The linear exit, the simplest there is."""

from dataclasses import dataclass

from jaxtyping import Bool, Float, Int
from torch import Tensor

from exitwise.exits.base import EXITS, Exit, ExitConfig, first_token


@dataclass(frozen=True, kw_only=True)
class LinearExitConfig(ExitConfig):
    """Settings of `LinearExit`; it has none of its own."""


@EXITS.register
class LinearExit(Exit):
    r"""One linear map on the first token: $h^e = H^{(m)}_0 \in R^d$, no pooler and no tanh.

    The "simple linear layer" that the paper compares the MHA exit with.
    """

    config_class = LinearExitConfig

    def embed(
        self,
        hidden: Float[Tensor, "n l d"],
        attention_mask: Int[Tensor, "n l"] | Bool[Tensor, "n l"],
    ) -> Float[Tensor, "n d"]:
        """The first token's hidden state itself."""
        return first_token(hidden, attention_mask)

    def macs(self, length: int) -> int:
        """$d K$, whatever the length."""
        return self.classifier.weight.numel()
