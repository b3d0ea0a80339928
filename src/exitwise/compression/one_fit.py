"""Ways to a smaller model that train once."""

from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from exitwise.bounds import check_at_least, check_positive
from exitwise.compression.base import Compression, Fit


@dataclass(frozen=True, kw_only=True)
class OneFitCompression(Compression):
    """What ways with a single training share: how long, and how fast.

    Attributes:
        epochs: passes over the training data.
        learning_rate: the peak rate.
        exit_learning_rate: that of the exit, the same if `None`.
    """

    least_epochs: ClassVar[int] = 1

    epochs: int = 15
    learning_rate: float = 2e-5
    exit_learning_rate: float | None = None

    def __post_init__(self) -> None:
        check_at_least(self.least_epochs, self, "epochs")
        check_positive(self, "learning_rate", "exit_learning_rate")

    def train(self, trainee: nn.Module, fit: Fit) -> None:
        """Trains in place, so long and so fast."""
        fit(
            trainee,
            epochs=self.epochs,
            learning_rate=self.learning_rate,
            exit_learning_rate=self.exit_learning_rate,
        )
