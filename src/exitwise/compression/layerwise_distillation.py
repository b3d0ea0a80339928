"""Distillation layer by layer, then of the answers: TinyBERT on the task."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from exitwise.bounds import check_at_least, check_positive
from exitwise.compression.attention_scores import attention_scores, check_has_attention_scores
from exitwise.compression.base import Compression, Fit
from exitwise.compression.kept_layers import spread, with_layers
from exitwise.compression.taught import Taught
from exitwise.compression.trainee import Inputs
from exitwise.encoders import layerwise
from exitwise.losses import soft_target_loss
from exitwise.losses.contrastive import float32_or_better
from exitwise.modeling import MultiExitForSequenceClassification


@Compression.registry.register
@dataclass(frozen=True, kw_only=True)
class LayerwiseDistillationCompression(Compression):
    r"""A student whose layer m learns to compute what the teacher's layer g(m) does, M from N.

    First the intermediate layers, with the mean squared error MSE over all tokens:

    $$\mathrm{MSE}(E^S W_e, E^T) + \sum_{m=1}^{M} \mathrm{MSE}(H^S_m W_h, H^T_{g(m)})
        + \mathrm{MSE}(A^S_m, A^T_{g(m)}), \qquad g(m) = m N / M$$

    E being the output of the embeddings, H the hidden states and A the attention scores before
    softmax, of all heads. Then the answers, by `soft_target_loss`, which has the gradient of the
    paper's cross-entropy with soft labels. (Jiao et al. 2020, TinyBERT, Findings of EMNLP,
    https://arxiv.org/abs/1909.10351.)

    Left out are two of the paper's parts: general distillation, from a pre-trained teacher on a
    corpus, and the augmentation of the task's data. A student that was not distilled before must
    start somewhere: here its layer m starts as the teacher's g(m), its embeddings and its exit as
    the teacher's. Its width is the teacher's too, for which $W_e$ and $W_h$ would not be needed;
    they are learnt all the same, as in the paper, but start as the identity, since a random map
    would undo that start. They are no part of the result. Where N is no multiple of M, g(m) is
    rounded up. Padding counts nowhere; in the authors' code, whose hidden states of padding are
    compared too, it does.

    Attributes:
        keep: M.
        intermediate_epochs: passes over the data for the layers; the authors' code takes 5 for
            large tasks, 20 for small ones and 50 for CoLA.
        intermediate_learning_rate: the peak rate of these.
        prediction_epochs: passes over the data for the answers; 0 for none.
        prediction_learning_rate: the peak rate of these.
        exit_learning_rate: that of the exit, the same if `None`.
        temperature: of the soft targets.
    """

    keep: int
    intermediate_epochs: int = 20
    intermediate_learning_rate: float = 5e-5
    prediction_epochs: int = 3
    prediction_learning_rate: float = 3e-5
    exit_learning_rate: float | None = None
    temperature: float = 1.0

    def __post_init__(self) -> None:
        check_at_least(1, self, "intermediate_epochs")
        check_at_least(0, self, "prediction_epochs")
        rates = "intermediate_learning_rate", "prediction_learning_rate", "exit_learning_rate"
        check_positive(self, *rates, "temperature")

    def check(self, model_type: str) -> None:
        """Layers that can be chosen, with scores that can be compared."""
        super().check(model_type)
        check_has_attention_scores(model_type)

    def kept_layers(self, num_layers: int) -> tuple[int, ...]:
        """g(1), …, g(M)."""
        return spread(self.keep, num_layers)

    def compress(
        self, model: MultiExitForSequenceClassification, fit: Fit
    ) -> MultiExitForSequenceClassification:
        """The student; the model is its teacher."""
        layers = self.kept_layers(model.num_layers)
        student = with_layers(model, layers)
        fit(
            LayerwiseStudent(student, model, layers),
            epochs=self.intermediate_epochs,
            learning_rate=self.intermediate_learning_rate,
        )
        if self.prediction_epochs:
            fit(
                AnsweringStudent(student, model, temperature=self.temperature),
                epochs=self.prediction_epochs,
                learning_rate=self.prediction_learning_rate,
                exit_learning_rate=self.exit_learning_rate,
            )
        return student


class LayerwiseStudent(Taught):
    """The loss of the intermediate layers; the exit has no part in it.

    Args:
        student: of M layers.
        teacher: of N layers and the same width and heads.
        layers: g(1), …, g(M).
    """

    def __init__(
        self,
        student: MultiExitForSequenceClassification,
        teacher: MultiExitForSequenceClassification,
        layers: Sequence[int],
    ) -> None:
        super().__init__(student, teacher)
        walk = layerwise(student.encoder)
        check_has_attention_scores(walk.model.config.model_type)
        self.layers = tuple(layers)
        self.embedding_map = identity(walk.width, like=student)
        self.hidden_map = identity(walk.width, like=student)

    def loss(self, inputs: Inputs, labels: Int[Tensor, " n"]) -> Float[Tensor, ""]:
        """The sum over embeddings and layers; no label is used."""
        student = inner_states(self.student, inputs, layers=range(1, len(self.layers) + 1))
        with torch.no_grad():
            teacher = inner_states(self.teacher, inputs, layers=self.layers)
        tokens = inputs.attention_mask.bool()[:, :, None]  # [n, l, 1]
        pairs = (tokens & tokens.mT)[:, None]  # [n, 1, l, l]
        with torch.autocast(tokens.device.type, enabled=False):
            mapped = self.embedding_map(float32_or_better(student.embedded))
            loss = mean_squared_error(mapped, teacher.embedded, tokens)
            for own, taught in zip(student.hidden, teacher.hidden, strict=True):
                mapped = self.hidden_map(float32_or_better(own))
                loss = loss + mean_squared_error(mapped, taught, tokens)
            for own, taught in zip(student.scores, teacher.scores, strict=True):
                loss = loss + mean_squared_error(own, taught, pairs)
        return loss


class AnsweringStudent(Taught):
    """The loss of the answers: soft targets, and no labels."""

    def __init__(
        self,
        student: MultiExitForSequenceClassification,
        teacher: MultiExitForSequenceClassification,
        *,
        temperature: float,
    ) -> None:
        super().__init__(student, teacher)
        self.temperature = temperature

    def loss(self, inputs: Inputs, labels: Int[Tensor, " n"]) -> Float[Tensor, ""]:
        """How far the student's answers are from the teacher's."""
        student = self.student(*inputs).logits
        with torch.no_grad():
            teacher = self.teacher(*inputs).logits
        return soft_target_loss(student, teacher, temperature=self.temperature)


class InnerStates(NamedTuple):
    """What is compared: after the embeddings, and in some layers.

    Attributes:
        embedded: the states before layer 1.
        hidden: the states after each of the layers.
        scores: the attention scores in each of them.
    """

    embedded: Float[Tensor, "n l d"]
    hidden: list[Float[Tensor, "n l d"]]
    scores: list[Float[Tensor, "n h l l"]]


def inner_states(
    model: MultiExitForSequenceClassification, inputs: Inputs, *, layers: Sequence[int]
) -> InnerStates:
    """One walk over the encoder, which ends at the deepest of the layers."""
    walk = layerwise(model.encoder)
    state = walk.embed(*inputs)
    states = InnerStates(state.hidden, [], [])
    for layer in range(1, max(layers) + 1):
        if layer in layers:
            states.scores.append(attention_scores(walk, layer, state.hidden))
        state = walk.run_layer(layer, state)
        if layer in layers:
            states.hidden.append(state.hidden)
    return states


def mean_squared_error(
    student: Float[Tensor, "*shape"],
    teacher: Float[Tensor, "*shape"],
    counted: Bool[Tensor, "..."],
) -> Float[Tensor, ""]:
    """The mean over all elements that count; `counted` is repeated over axes of length 1.

    >>> ours, theirs = torch.tensor([[1.0, 2.0], [7.0, 7.0]]), torch.zeros(2, 2)
    >>> mean_squared_error(ours, theirs, torch.tensor([[True], [False]]))
    tensor(2.5000)
    """
    difference = float32_or_better(student) - float32_or_better(teacher)
    return difference[counted.expand_as(difference)].square().mean()


def identity(width: int, *, like: MultiExitForSequenceClassification) -> nn.Linear:
    """A linear map without bias that changes nothing yet."""
    linear = nn.Linear(width, width, bias=False, device=like.device, dtype=like.dtype)
    nn.init.eye_(linear.weight)
    return linear
