"""ACL-Embed: supervised contrastive learning with the label embeddings as further samples."""

from typing import Literal, get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor

from exitwise.losses.contrastive import (
    Denominator,
    Reduction,
    check_choice,
    check_labels,
    contrastive_loss,
    directions,
)

AlignedAnchors = Literal["all", "samples", "labels"]


def aligned_contrastive_loss(
    embeddings: Float[Tensor, "n d"],
    label_embeddings: Float[Tensor, "k d"],
    labels: Int[Tensor, "n"],
    *,
    anchors: AlignedAnchors = "all",
    temperature: float = 0.5,
    denominator: Denominator = "paper",
    reduction: Reduction = "sum",
    normalize: bool = True,
    normalize_label_embeddings: bool = True,
) -> Float[Tensor, ""]:
    r"""Supervised contrastive loss on n + k items: the samples and one label embedding a class.

    $$L_{acl} = L_{con}\big( \{(h_i, y_i)\}_{i \le N} \cup \{(l_k, k)\}_{k < K} \big)$$

    (ACL-Embed in the paper). $l_k$ is column k of the classifier's matrix, hence
    row k of `Linear.weight`, and gets gradient here as well as from cross-entropy. This ties
    the contrast to the classifier, and contrasts the label embeddings with each other.

    A sample always has a positive: its label embedding. The label embedding of a class that is
    absent from the batch has none and adds 0 as an anchor; it still is everybody's negative.

    Args:
        embeddings: $h$, one row a sample.
        label_embeddings: $l_0 … l_{k-1}$.
        labels: the class of each sample, from 0 to k - 1.
        anchors: whose terms are summed: "all" n + k items (the paper), the "samples" or the
            "labels" alone. All items are candidates in any case.
        temperature: $\tau$.
        denominator: as in `supervised_contrastive_loss`.
        reduction: as in `supervised_contrastive_loss`.
        normalize: whether the samples are brought to length 1.
        normalize_label_embeddings: whether the label embeddings are, inside this loss only.

    One sample on top of its label embedding, with one class: two items, as if two samples.

    >>> aligned_contrastive_loss(torch.ones(1, 3), torch.ones(1, 3), torch.tensor([0]))
    tensor(1.3863)
    """
    check_choice("anchors", anchors, get_args(AlignedAnchors))
    check_labels(labels, num_samples=len(embeddings), num_classes=len(label_embeddings))
    samples = directions(embeddings, normalize=normalize)
    classes = directions(label_embeddings, normalize=normalize_label_embeddings)
    is_label = torch.arange(len(samples) + len(classes), device=labels.device) >= len(samples)
    is_anchor = {"all": None, "samples": ~is_label, "labels": is_label}[anchors]
    return contrastive_loss(
        torch.cat([samples, classes]),
        with_classes(labels, num_classes=len(classes)),
        is_anchor,
        temperature=temperature,
        denominator=denominator,
        reduction=reduction,
    )


def with_classes(labels: Int[Tensor, "n"], *, num_classes: int) -> Int[Tensor, "n_and_k"]:
    """The labels of n samples, then those of the k label embeddings.

    >>> with_classes(torch.tensor([2, 0]), num_classes=3)
    tensor([2, 0, 0, 1, 2])
    """
    return torch.cat([labels, torch.arange(num_classes, device=labels.device, dtype=labels.dtype)])
