"""ACL-CL: a shallow exit contrasts with samples and label embeddings of the last exit."""

from typing import Literal, get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor

from exitwise.losses.aligned import with_classes
from exitwise.losses.contrastive import (
    Denominator,
    Reduction,
    check_choice,
    check_labels,
    contrastive_loss,
    directions,
)
from exitwise.outputs import ExitOutput

CrossLayerAnchors = Literal["all", "student"]


def cross_layer_contrastive_loss(
    student: ExitOutput,
    teacher: ExitOutput,
    labels: Int[Tensor, "n"],
    *,
    anchors: CrossLayerAnchors = "all",
    temperature: float = 0.5,
    denominator: Denominator = "paper",
    reduction: Reduction = "sum",
    normalize: bool = True,
    normalize_label_embeddings: bool = True,
) -> Float[Tensor, ""]:
    r"""Supervised contrastive loss on 2n + 2k items: the student exit's and the teacher's.

    $$L_{aclcl}^{(m)} = L_{con}\big( \{(h_i^m, y_i)\} \cup \{(l_k^m, k)\} \cup
        \{(h_i^M, y_i)\} \cup \{(l_k^M, k)\} \big)$$

    (ACL-CL in the paper). The teacher's items are detached: gradients reach the
    student alone. Nothing special pairs a sample with its own teacher vector; it is a positive
    like the others. An item of a class with n samples has 2n + 1 positives, so that none is
    without.

    Args:
        student: the exit m that is trained.
        teacher: the last exit on the same samples; its embeddings have the same width.
        labels: the class of each sample, from 0 to k - 1.
        anchors: "all" 2n + 2k items (the paper: a teacher's term moves the student, too, by
            its positives and negatives) or the n + k of the "student" alone.
        temperature: $\tau$.
        denominator: as in `supervised_contrastive_loss`.
        reduction: as in `supervised_contrastive_loss`.
        normalize: whether the samples are brought to length 1.
        normalize_label_embeddings: whether the label embeddings are.
    """
    check_choice("anchors", anchors, get_args(CrossLayerAnchors))
    widths = student.embedding.shape[-1], teacher.embedding.shape[-1]
    if widths[0] != widths[1]:
        raise ValueError(
            f"student and teacher exit must have one width, found {widths[0]} and {widths[1]}"
        )
    num_classes = len(student.label_embeddings)
    check_labels(labels, num_samples=len(student.embedding), num_classes=num_classes)
    items = [
        vectors
        for output in (student, teacher.detach())
        for vectors in (
            directions(output.embedding, normalize=normalize),
            directions(output.label_embeddings, normalize=normalize_label_embeddings),
        )
    ]
    own = with_classes(labels, num_classes=num_classes)
    is_student = torch.arange(2 * len(own), device=labels.device) < len(own)
    return contrastive_loss(
        torch.cat(items),
        torch.cat([own, own]),
        is_student if anchors == "student" else None,
        temperature=temperature,
        denominator=denominator,
        reduction=reduction,
    )
