"""What the embeddings of a batch look like: for logs, not for training."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from exitwise.losses.contrastive import unit_rows

MAX_COMPARED = 1024
"""Embeddings of a data set that are compared pair by pair: the pairs grow with the square."""


class Geometry(NamedTuple):
    """How the embeddings of a batch lie on the unit sphere; NaN where there is no such pair.

    Attributes:
        positive_similarity: mean cosine of two samples with one label.
        negative_similarity: mean cosine of two samples with different labels.
        alignment: mean squared distance of two samples with one label; 0 is best.
        uniformity: log of the mean Gaussian potential $e^{-2 d^2}$ of all pairs; lower is
            more spread, 0 is a single point.
    """

    positive_similarity: Float[Tensor, ""]
    negative_similarity: Float[Tensor, ""]
    alignment: Float[Tensor, ""]
    uniformity: Float[Tensor, ""]

    def is_collapsed(self, *, similarity: float = 0.99) -> bool:
        """Whether samples of different labels are nearly one point."""
        return bool(self.negative_similarity > similarity)


@torch.no_grad()
def geometry(embeddings: Float[Tensor, "n d"], labels: Int[Tensor, "n"]) -> Geometry:
    """Similarities within and between labels, alignment and uniformity of a batch.

    Alignment and uniformity: Wang & Isola 2020, https://arxiv.org/abs/2005.10242.

    >>> geometry(torch.eye(2), torch.tensor([0, 1])).negative_similarity
    tensor(0.)
    """
    unit = unit_rows(embeddings)
    with torch.autocast(unit.device.type, enabled=False):
        similarity = unit @ unit.T  # [n, n]
    distance = (2 - 2 * similarity).clamp(min=0)  # squared, of unit vectors
    is_same = labels[:, None] == labels[None, :]
    is_other = ~torch.eye(len(labels), dtype=torch.bool, device=labels.device)
    return Geometry(
        positive_similarity=_mean(similarity, is_same & is_other),
        negative_similarity=_mean(similarity, ~is_same),
        alignment=_mean(distance, is_same & is_other),
        uniformity=_mean((-2 * distance).exp(), is_other).log(),
    )


def compared_rows(labels: Int[Tensor, "n"], *, seed: int = 0) -> Int[Tensor, "s"]:
    """The rows of a data set whose embeddings `geometry` compares, in ascending order.

    All labelled rows; of more than `MAX_COMPARED` so many, drawn without replacement. The draw
    depends on the seed and the number of labelled rows alone, so that the exits and epochs of a
    run are compared on the same rows.

    >>> compared_rows(torch.tensor([0, -1, 1]))
    tensor([0, 2])

    Args:
        labels: of all rows, -1 where a row has none.
        seed: of the draw; torch's global generator is left alone.
    """
    labelled = (labels >= 0).nonzero().flatten()
    drawn = torch.randperm(len(labelled), generator=torch.Generator().manual_seed(seed))
    return labelled[drawn[:MAX_COMPARED].sort().values.to(labels.device)]


def has_positive(labels: Int[Tensor, "n"]) -> Bool[Tensor, ""]:
    """Whether any label occurs twice; if none does, the supervised contrastive loss is 0.

    >>> has_positive(torch.tensor([0, 1, 2]))
    tensor(False)
    """
    return (labels[:, None] == labels[None, :]).sum() > len(labels)


def _mean(values: Tensor, is_counted: Tensor) -> Tensor:
    """The mean over the marked pairs: NaN if there is none."""
    return values.where(is_counted, 0).sum() / is_counted.sum()
