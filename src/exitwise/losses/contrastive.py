"""The contrastive loss in its general form; the paper's three are this one on other items."""

from typing import Literal, get_args

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

Denominator = Literal["paper", "khosla"]
Reduction = Literal["sum", "mean", "mean_valid"]

SMALLEST_NORM = 1e-12  # a shorter vector has no direction


def contrastive_loss(
    items: Float[Tensor, "s d"],
    labels: Int[Tensor, "s"],
    is_anchor: Bool[Tensor, "s"] | None = None,
    *,
    temperature: float,
    denominator: Denominator,
    reduction: Reduction,
) -> Float[Tensor, ""]:
    r"""Pulls each anchor to the items of its label and pushes it from the others.

    $$L_{con} = \sum_{a \in A} \ell(a)$$

    with $\ell(a)$ of `anchor_terms`. `items` are s vectors with the `directions` in which they
    are compared; `is_anchor` marks $A$, all of them if `None`. SCL has the samples of a batch
    as items, ACL-Embed also the label embeddings, ACL-CL those of a teacher exit besides.

    `reduction` is "sum" as the paper prints it, "mean" over the anchors, or "mean_valid" over
    the anchors that have a positive. Without any positive the loss is exactly 0 and its
    gradient zero, and `backward()` works.
    """
    check_contrast(temperature=temperature, denominator=denominator, reduction=reduction)
    terms, num_positives = anchor_terms(
        items, labels, temperature=temperature, denominator=denominator
    )
    counted = torch.ones_like(labels, dtype=torch.bool) if is_anchor is None else is_anchor
    total = terms.where(counted, 0).sum()
    if reduction == "mean":
        return total / counted.sum().clamp(min=1)
    if reduction == "mean_valid":
        return total / (counted & (num_positives > 0)).sum().clamp(min=1)
    return total


def anchor_terms(
    items: Float[Tensor, "s d"],
    labels: Int[Tensor, "s"],
    *,
    temperature: float,
    denominator: Denominator,
) -> tuple[Float[Tensor, "s"], Int[Tensor, "s"]]:
    r"""The term of every item as an anchor, and the number of its positives.

    $$\ell(a) = \frac{-1}{|P(a)|} \sum_{p \in P(a)}
        \Big[ s_{ap} - \log \sum_{k \in D(a)} \exp s_{ak} \Big], \qquad
        s_{ab} = \frac{u_a \cdot u_b}{\tau}$$

    $P(a)$ are the other items with the label of $a$. $D(a)$ is every item, the anchor included,
    as the paper prints it, or every item but the anchor ("khosla": Khosla et al. 2020,
    https://arxiv.org/abs/2004.11362; so do Gunel et al. 2021). The two are related by
    $\ell_{paper}(a) = \ell_{khosla}(a) - \log(1 - \pi_{aa})$. Without a positive the term is 0;
    the item still is a negative of the others.
    """
    similarity = _dot_products(items) / temperature  # [s, s]
    is_self = torch.eye(len(items), dtype=torch.bool, device=items.device)
    is_positive = (labels[:, None] == labels[None, :]) & ~is_self
    candidates = similarity
    if denominator == "khosla":
        # The lowest number instead of -inf: a single item then has no -inf to subtract.
        candidates = similarity.masked_fill(is_self, torch.finfo(similarity.dtype).min)
    cost = candidates.logsumexp(dim=-1, keepdim=True) - similarity  # [s, s]
    num_positives = is_positive.sum(dim=-1)
    terms = cost.where(is_positive, 0).sum(dim=-1) / num_positives.clamp(min=1)
    return terms, num_positives


def directions(vectors: Float[Tensor, "s d"], *, normalize: bool) -> Float[Tensor, "s d"]:
    """Vectors as a loss compares them: of length 1, or as they are."""
    return unit_rows(vectors) if normalize else float32_or_better(vectors)


def unit_rows(vectors: Float[Tensor, "s d"]) -> Float[Tensor, "s d"]:
    r"""Rows of length 1, in float32 or better.

    A row with $\lVert v \rVert \le 10^{-12}$ has no direction: it becomes 0 and gets exactly
    zero gradient, where a division by a small constant would give gradients of $10^{11}$.

    >>> unit_rows(torch.tensor([[3.0, 4.0], [0.0, 0.0]]))
    tensor([[0.6000, 0.8000],
            [0.0000, 0.0000]])
    """
    vectors = float32_or_better(vectors)
    norm = torch.linalg.vector_norm(vectors, dim=-1, keepdim=True)
    has_direction = norm > SMALLEST_NORM
    return vectors.div(norm.where(has_direction, 1)).where(has_direction, 0)


def float32_or_better(tensor: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Half-precision types become float32, float64 stays."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))


def check_contrast(*, temperature: float, denominator: str, reduction: str) -> None:
    """Raises `ValueError` if a setting of a contrastive loss does not fit.

    >>> check_contrast(temperature=-0.5, denominator="paper", reduction="sum")
    Traceback (most recent call last):
    ...
    ValueError: temperature must be positive, found -0.5
    """
    if not temperature > 0:
        raise ValueError(f"temperature must be positive, found {temperature}")
    check_choice("denominator", denominator, get_args(Denominator))
    check_choice("reduction", reduction, get_args(Reduction))


def check_labels(
    labels: Int[Tensor, "*shape"], *, num_samples: int, num_classes: int | None = None
) -> None:
    """Raises `ValueError` if there is not one label a sample, or one that is no class.

    The classes are looked at on the CPU only: elsewhere the check would wait for the device.

    >>> check_labels(torch.tensor([1, 2]), num_samples=2, num_classes=2)
    Traceback (most recent call last):
    ...
    ValueError: labels must be from 0 to 1, found 2
    """
    if labels.shape != (num_samples,):
        raise ValueError(
            f"labels must have shape ({num_samples},), one a sample, found {tuple(labels.shape)}"
        )
    if num_classes is None or labels.device.type != "cpu":
        return
    is_outside = (labels < 0) | (labels >= num_classes)
    if is_outside.any():
        found = labels[is_outside][0].item()
        raise ValueError(f"labels must be from 0 to {num_classes - 1}, found {found}")


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Raises `ValueError` if a setting is none of its choices."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, found {value!r}")


def _dot_products(items: Tensor) -> Tensor:
    """All pairs, in float32 or better also where autocast would multiply in half precision."""
    with torch.autocast(items.device.type, enabled=False):
        vectors = float32_or_better(items)
        return vectors @ vectors.T
