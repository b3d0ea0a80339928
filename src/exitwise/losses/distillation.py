"""Soft targets: the student's distribution follows the teacher's."""

from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import kl_div

from exitwise.losses.contrastive import float32_or_better


def soft_target_loss(
    student_logits: Float[Tensor, "n k"],
    teacher_logits: Float[Tensor, "n k"],
    *,
    temperature: float = 1.0,
) -> Float[Tensor, ""]:
    r"""How far the student's softened predictions are from the teacher's; 0 at agreement.

    $$\frac{T^2}{N} \sum_i \mathrm{KL}\big( \mathrm{softmax}(z^T_i / T) \,\|\,
        \mathrm{softmax}(z_i / T) \big)$$

    (Hinton et al. 2015, https://arxiv.org/abs/1503.02531; the gradient is
    $\tfrac{T}{N}(q_i - p_i)$). The teacher gets no gradient. The paper states neither formula
    nor temperature; T = 1 follows FastBERT (Liu et al. 2020, https://arxiv.org/abs/2004.02178).

    >>> import torch
    >>> logits = torch.tensor([[0.0, 1.0]])
    >>> soft_target_loss(logits, logits + 3.0)  # the same distribution
    tensor(0.)
    """
    if not temperature > 0:
        raise ValueError(f"temperature must be positive, found {temperature}")
    student = (float32_or_better(student_logits) / temperature).log_softmax(dim=-1)
    teacher = (float32_or_better(teacher_logits.detach()) / temperature).log_softmax(dim=-1)
    divergence = kl_div(student, teacher, reduction="batchmean", log_target=True)
    return temperature**2 * divergence
