"""SCL: supervised contrastive learning on the samples of a batch."""

from jaxtyping import Float, Int
from torch import Tensor

from exitwise.losses.contrastive import (
    Denominator,
    Reduction,
    check_labels,
    contrastive_loss,
    directions,
)


def supervised_contrastive_loss(
    embeddings: Float[Tensor, "n d"],
    labels: Int[Tensor, "n"],
    *,
    temperature: float = 0.5,
    denominator: Denominator = "paper",
    reduction: Reduction = "sum",
    normalize: bool = True,
) -> Float[Tensor, ""]:
    r"""Pulls embeddings with the same label together and pushes the others apart.

    $$\sum_{i=1}^{N} \frac{-1}{N_{y_i} - 1} \sum_{j \neq i,\, y_j = y_i} \log s(i, j)$$

    with $s(i, \cdot)$ the softmax of the cosine similarities over `temperature` (section 3.1 of
    the paper; Khosla et al. 2020, https://arxiv.org/abs/2004.11362; Gunel et al. 2021,
    https://arxiv.org/abs/2011.01403). There is no other factor: no base temperature.

    A sample that is alone with its label adds 0 as an anchor and stays a negative of the
    others. If all labels differ, or n = 1, the loss is 0 with zero gradient.

    Args:
        embeddings: $h$, one row a sample. Their length plays no part if `normalize`.
        labels: the class of each sample.
        temperature: $\tau$.
        denominator: "paper" counts the anchor itself in the softmax, as printed; "khosla"
            leaves it out, as in the works that the paper follows.
        reduction: "sum" over the anchors as printed, "mean" over all of them or "mean_valid"
            over those with a positive. A weight $\lambda$ means something else under each.
        normalize: whether similarities are cosines, as in the paper, or plain dot products.

    Two equal vectors: each finds its positive with probability 1/2 if it counts itself.

    >>> import torch
    >>> same = torch.ones(2, 3)
    >>> supervised_contrastive_loss(same, torch.tensor([0, 0]))  # 2 log 2
    tensor(1.3863)
    >>> supervised_contrastive_loss(same, torch.tensor([0, 1]))
    tensor(0.)
    """
    check_labels(labels, num_samples=len(embeddings))
    return contrastive_loss(
        directions(embeddings, normalize=normalize),
        labels,
        temperature=temperature,
        denominator=denominator,
        reduction=reduction,
    )
