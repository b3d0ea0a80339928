"""Task distillation into fewer layers, in the manner of DistilBERT."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cosine_similarity, cross_entropy

from exitwise.bounds import check_positive
from exitwise.compression.base import Compression, Fit
from exitwise.compression.kept_layers import check_keep, with_layers
from exitwise.compression.one_fit import OneFitCompression
from exitwise.compression.taught import Taught
from exitwise.compression.trainee import Inputs
from exitwise.losses import soft_target_loss
from exitwise.losses.contrastive import float32_or_better
from exitwise.modeling import MultiExitForSequenceClassification


@Compression.registry.register
@dataclass(frozen=True, kw_only=True)
class DistillationCompression(OneFitCompression):
    r"""Some layers of a fine-tuned teacher, trained to answer and to represent texts as it does.

    $$L = \alpha_{soft}\, L_{kd} + \alpha_{ce}\, L_{ce} + \alpha_{cos}\,
        \overline{1 - \cos(h^S, h^T)}$$

    with `soft_target_loss` and the mean over all tokens, the last hidden states of student and
    teacher compared (Sanh, Debut, Chaumond and Wolf 2019, DistilBERT, NeurIPS workshop EMC2,
    https://arxiv.org/abs/1910.01108).

    Left out is the larger part of DistilBERT: its student is distilled from a pre-trained teacher
    on a corpus, with masked words in the place of $L_{ce}$, and fine-tuned after that. Here the
    same three losses are used on the task, with the weights and the temperature of its authors'
    training command. `one_out_of` says with which layers the student starts; its embeddings and
    its exit start as the teacher's.

    Attributes:
        keep: layers of the student; half of the teacher's in the paper.
        temperature: T of the soft targets.
        soft_weight: of the soft targets.
        label_weight: of cross-entropy.
        cosine_weight: of the distance of hidden states.
    """

    keep: int
    temperature: float = 2.0
    soft_weight: float = 5.0
    label_weight: float = 2.0
    cosine_weight: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(self, "temperature")
        weights = (self.soft_weight, self.label_weight, self.cosine_weight)
        if min(weights) < 0 or not any(weights):
            raise ValueError(f"the weights must be 0 or more and not all 0, found {weights}")

    def kept_layers(self, num_layers: int) -> tuple[int, ...]:
        """Those of `one_out_of`."""
        return one_out_of(self.keep, num_layers)

    def compress(
        self, model: MultiExitForSequenceClassification, fit: Fit
    ) -> MultiExitForSequenceClassification:
        """The student; the model is its teacher."""
        student = with_layers(model, self.kept_layers(model.num_layers))
        self.train(DistilledStudent(student, model, self), fit)
        return student


class DistilledStudent(Taught):
    """The student's loss beside its teacher."""

    def __init__(
        self,
        student: MultiExitForSequenceClassification,
        teacher: MultiExitForSequenceClassification,
        settings: DistillationCompression,
    ) -> None:
        super().__init__(student, teacher)
        self.settings = settings

    def loss(self, inputs: Inputs, labels: Int[Tensor, " n"]) -> Float[Tensor, ""]:
        """The weighted sum of the three losses."""
        hidden, logits = last_layer(self.student, inputs)
        with torch.no_grad():
            teacher_hidden, teacher_logits = last_layer(self.teacher, inputs)
        settings = self.settings
        soft = soft_target_loss(logits, teacher_logits, temperature=settings.temperature)
        hard = cross_entropy(float32_or_better(logits), labels)
        distance = cosine_distance(hidden, teacher_hidden, inputs.attention_mask)
        return (
            settings.soft_weight * soft
            + settings.label_weight * hard
            + settings.cosine_weight * distance
        )


def last_layer(
    model: MultiExitForSequenceClassification, inputs: Inputs
) -> tuple[Float[Tensor, "n l d"], Float[Tensor, "n k"]]:
    """The states after the last layer, and the logits of its exit."""
    last = model.num_layers
    hidden, mask = model.hidden_states(*inputs, layers=[last])
    return hidden[last], model.exits_from_hidden(hidden, mask)[last].logits


def cosine_distance(
    student: Float[Tensor, "n l d"],
    teacher: Float[Tensor, "n l d"],
    attention_mask: Int[Tensor, "n l"] | Bool[Tensor, "n l"],
) -> Float[Tensor, ""]:
    r"""$1 - \cos(h^S, h^T)$, the mean over all tokens of a batch; padding does not count.

    >>> states = torch.tensor([[[1.0, 0.0], [0.0, 2.0], [5.0, 5.0]]])
    >>> others = torch.tensor([[[0.0, 3.0], [0.0, 1.0], [-5.0, 5.0]]])
    >>> cosine_distance(states, others, torch.tensor([[1, 1, 0]]))
    tensor(0.5000)
    """
    tokens = attention_mask.bool()
    pairs = float32_or_better(student[tokens]), float32_or_better(teacher[tokens])  # [t, d]
    return (1 - cosine_similarity(*pairs, dim=-1)).mean()


def one_out_of(num_kept: int, num_layers: int) -> tuple[int, ...]:
    r"""The teacher's layers with which a student starts: evenly spread, first and last included.

    $$g(m) = 1 + \frac{(m - 1)(N - 1)}{M - 1}$$

    rounded, a half upwards; one layer alone is the first. The paper takes "one layer out of two";
    for six out of twelve this formula gives the layers that its authors' code takes.

    >>> one_out_of(6, 12)
    (1, 3, 5, 8, 10, 12)
    >>> one_out_of(2, 3), one_out_of(1, 3)
    ((1, 3), (1,))
    """
    check_keep(num_kept, num_layers)
    steps = max(num_kept - 1, 1)
    return tuple(
        1 + (2 * place * (num_layers - 1) + steps) // (2 * steps) for place in range(num_kept)
    )
