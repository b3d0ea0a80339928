"""What an exit gives: the one joint between model, objectives, inference and evaluation."""

from typing import TYPE_CHECKING, NamedTuple

from jaxtyping import Float

if TYPE_CHECKING:  # the tensors are named, not needed: this module runs without torch
    from torch import Tensor


class ExitOutput(NamedTuple):
    """What one exit says of a batch of n samples: $h^e$, $l_k$ and the logits.

    Exits travel as `{layer: ExitOutput}`, layers counted from 1 as in the paper.

    Attributes:
        logits: scores of the k labels.
        embedding: $h^e$, the input of the exit's classifier, before dropout.
        label_embeddings: $l_k$, the columns of $W$, which are the rows of `Linear.weight`.
    """

    logits: "Float[Tensor, 'n k']"
    embedding: "Float[Tensor, 'n d']"
    label_embeddings: "Float[Tensor, 'k d']"

    def detach(self) -> "ExitOutput":
        """The same values without gradient, as a teacher gives them."""
        return ExitOutput(*(tensor.detach() for tensor in self))
