"""BERT-of-Theseus: layers take the place of modules while the model is at work."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from exitwise.bounds import check_at_least, check_positive
from exitwise.compression.base import Compression, Fit
from exitwise.compression.kept_layers import check_keep, with_layers
from exitwise.compression.taught import Taught
from exitwise.compression.trainee import Inputs
from exitwise.encoders import layerwise
from exitwise.losses.contrastive import float32_or_better
from exitwise.modeling import MultiExitForSequenceClassification


@Compression.registry.register
@dataclass(frozen=True, kw_only=True)
class ModuleReplacementCompression(Compression):
    r"""Each module of N / M layers of a fine-tuned predecessor gives way to one layer.

    In each training step each module is replaced with probability $\theta(t)$, on its own:

    $$\theta(t) = \min(1,\ b + k t)$$

    and the layers that take their places learn by cross-entropy alone; the predecessor, embeddings
    and exit are frozen. Then the successor, which is embeddings, these M layers and exit, is
    fine-tuned as a whole. (Xu et al. 2020, BERT-of-Theseus, EMNLP,
    https://arxiv.org/abs/2002.02925.)

    As in the authors' code, the successor starts with the first M layers of the predecessor. A
    step is a batch: with gradient accumulation, each micro-batch draws anew. Choices of ours: the
    predecessor's layers run in evaluation mode, without dropout, where that code has dropout in
    both; and in the second part embeddings and exit learn too, where it trains the layers alone to
    the end. Left out is the search for rates, and for the best epoch on validation.

    Attributes:
        keep: M, of which N must be a multiple.
        replacing_epochs: passes over the data in which modules are replaced at random.
        fine_tuning_epochs: passes over the data of the successor alone; 0 for none, since a rate
            that has reached 1 means the same to its layers.
        learning_rate: the peak rate of both parts.
        exit_learning_rate: that of the exit in the second part, the same if `None`.
        rate: b, the probability in the first step.
        full_after: the share of the first part after which the probability is 1; k follows from
            it. `None` lets it stay at `rate`.
    """

    keep: int
    replacing_epochs: int = 10
    fine_tuning_epochs: int = 5
    learning_rate: float = 2e-5
    exit_learning_rate: float | None = None
    rate: float = 0.3
    full_after: float | None = 0.5

    def __post_init__(self) -> None:
        check_at_least(1, self, "replacing_epochs")
        check_at_least(0, self, "fine_tuning_epochs")
        check_positive(self, "learning_rate", "exit_learning_rate")
        if not 0 < self.rate <= 1:
            raise ValueError(f"rate must be above 0 and at most 1, found {self.rate}")
        if self.full_after is not None and not 0 < self.full_after <= 1:
            raise ValueError(f"full_after must be above 0 and at most 1, found {self.full_after}")

    def kept_layers(self, num_layers: int) -> Sequence[int]:
        """The first M."""
        check_keep(self.keep, num_layers)
        if num_layers % self.keep:
            raise ValueError(
                f"keep must divide the {num_layers} layers into modules of equal size, "
                f"found {self.keep}"
            )
        return range(1, self.keep + 1)

    def compress(
        self, model: MultiExitForSequenceClassification, fit: Fit
    ) -> MultiExitForSequenceClassification:
        """The successor; the model is its predecessor."""
        successor = with_layers(model, self.kept_layers(model.num_layers))
        num_steps = self.replacing_epochs * sum(1 for _ in fit.batches())
        fit(
            MixedModel(successor, model, self, num_steps=num_steps),
            epochs=self.replacing_epochs,
            learning_rate=self.learning_rate,
        )
        successor.requires_grad_(True)
        if self.fine_tuning_epochs:
            fit(
                successor,
                epochs=self.fine_tuning_epochs,
                learning_rate=self.learning_rate,
                exit_learning_rate=self.exit_learning_rate,
            )
        return successor

    def rate_at(self, step: int, num_steps: int) -> float:
        r"""$\theta(t)$, t counted from 0.

        >>> settings = ModuleReplacementCompression(keep=6, rate=0.5, full_after=0.5)
        >>> [settings.rate_at(step, 8) for step in range(6)]
        [0.5, 0.625, 0.75, 0.875, 1.0, 1.0]
        """
        if self.full_after is None:
            return self.rate
        slope = (1 - self.rate) / (self.full_after * num_steps)
        return min(1.0, self.rate + slope * step)


class MixedModel(Taught):
    """Predecessor and successor as one model, in which the successor's layers learn.

    Args:
        successor: the `student`; its embeddings and its exit, frozen, are the mixed model's.
        predecessor: the `teacher`, with the same embeddings and exit.
        settings: the rate of replacement.
        num_steps: batches of the whole training.
    """

    def __init__(
        self,
        successor: MultiExitForSequenceClassification,
        predecessor: MultiExitForSequenceClassification,
        settings: ModuleReplacementCompression,
        *,
        num_steps: int,
    ) -> None:
        super().__init__(successor, predecessor)
        self.settings = settings
        self.num_steps = num_steps
        self.step = 0
        successor.requires_grad_(False)
        layers = layerwise(successor.encoder).layers
        assert isinstance(layers, nn.ModuleList)  # others are refused by `with_layers`
        self.learning = list(layers.requires_grad_(True).parameters())

    def loss(self, inputs: Inputs, labels: Int[Tensor, " n"]) -> Float[Tensor, ""]:
        """The cross-entropy of the model that this step's draws make."""
        replaced = self.draw()
        logits = self.logits(replaced, *inputs)
        loss = cross_entropy(float32_or_better(logits), labels)
        if not any(replaced):  # nothing learns: a gradient of zero, where there would be none
            loss = loss + 0.0 * self.learning[0].sum()
        return loss

    def draw(self) -> list[bool]:
        """Which modules are replaced in this step; the next call is the next step."""
        rate = self.settings.rate_at(self.step, self.num_steps)
        self.step += 1
        draws: list[bool] = (torch.rand(self.student.num_layers) < rate).tolist()
        return draws

    def logits(
        self,
        replaced: Sequence[bool],
        input_ids: Int[Tensor, "n l"],
        attention_mask: Int[Tensor, "n l"],
        token_type_ids: Int[Tensor, "n l"] | None = None,
    ) -> Float[Tensor, "n k"]:
        """The answers with some modules replaced, given in their order."""
        successor, predecessor = layerwise(self.student.encoder), layerwise(self.teacher.encoder)
        size = predecessor.num_layers // successor.num_layers
        state = successor.embed(input_ids, attention_mask, token_type_ids)
        for module, is_replaced in enumerate(replaced):
            if is_replaced:
                state = successor.run_layer(module + 1, state)
            else:
                for layer in range(module * size + 1, (module + 1) * size + 1):
                    state = predecessor.run_layer(layer, state)
        last = self.student.num_layers
        return self.student.exits_from_hidden({last: state.hidden}, attention_mask)[last].logits
