"""What a way to make a model smaller is: settings, and a function from model to model."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar, Protocol, runtime_checkable

from torch import Tensor, nn

from exitwise.compression.kept_layers import check_layers_are_free
from exitwise.modeling import MultiExitForSequenceClassification
from exitwise.registry import Registry

Batch = dict[str, Tensor]


@runtime_checkable
class Fit(Protocol):
    """Trains whatever has a loss on the training set of a run."""

    updates_per_epoch: int

    def __call__(
        self,
        trainee: nn.Module,
        *,
        epochs: int,
        learning_rate: float,
        exit_learning_rate: float | None = None,
    ) -> None:
        """Trains in place, with an optimiser and a schedule of its own.

        Args:
            trainee: called with `input_ids`, `attention_mask`, `labels` and, where the encoder
                has them, `token_type_ids`; answers `{"loss": …}`. What requires no gradient
                is left alone.
            epochs: passes over the training data.
            learning_rate: the peak rate.
            exit_learning_rate: that of modules in an `exits`, the same if `None`.
        """

    def batches(self) -> Iterable[Batch]:
        """One pass over the training data in their order, on the device of the training."""


class Compression(ABC):
    """A way to a smaller model, which answers at its last exit."""

    registry: ClassVar[Registry["Compression"]] = Registry("compression", suffix="Compression")

    def check(self, model_type: str) -> None:
        """Whether encoders of a type can be made smaller in this way, asked before all training.

        Raises:
            UnsupportedError: they cannot; by default those whose layers cannot be chosen freely.
        """
        check_layers_are_free(model_type)

    @abstractmethod
    def kept_layers(self, num_layers: int) -> Sequence[int]:
        """Which layers of so many the smaller model starts with, ascending.

        Raises:
            ValueError: it cannot be done with a model of that depth.
        """

    def num_layers(self, num_layers: int) -> int:
        """How many layers stay of so many; see `kept_layers`."""
        return len(self.kept_layers(num_layers))

    @abstractmethod
    def compress(
        self, model: MultiExitForSequenceClassification, fit: Fit
    ) -> MultiExitForSequenceClassification:
        """The smaller model, with an exit at its last layer alone.

        Args:
            model: the whole one; it may be changed. Fine-tuned where the method starts from a
                fine-tuned model, else a pre-trained encoder with a fresh exit.
            fit: trains on the data of the run.
        """
