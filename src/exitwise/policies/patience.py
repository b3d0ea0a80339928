"""Leave when several exits in a row agree."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from exitwise.errors import ExitwiseError
from exitwise.policies.base import Array, ExitPolicy, namespace


@ExitPolicy.registry.register
@dataclass(frozen=True, kw_only=True)
class PatiencePolicy(ExitPolicy):
    """Stops when the last `patience + 1` exits give the same label.

    Zhou et al. 2020, PABEE, https://arxiv.org/abs/2006.04152: a counter that grows where an exit
    repeats the label before it, and else falls to 0, has reached `patience`.

    Attributes:
        patience: 0 leaves at the first exit.
    """

    patience: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.patience < 0:
            raise ExitwiseError(f"patience must be at least 0, found {self.patience}")

    def check(self, *, layers: Collection[int], num_labels: int) -> None:
        """Whether there are as many exits as `patience` asks for."""
        super().check(layers=layers, num_labels=num_labels)
        self._check_exits("patience", len(layers) - 1, layers)

    def stops(self, log_probs: Array, layers: tuple[int, ...]) -> Array:
        """Whether the labels of the last exits are all equal."""
        xp = namespace(log_probs)
        labels = xp.argmax(log_probs, axis=-1)  # [m, n]
        if len(layers) <= self.patience:
            return xp.zeros(labels.shape[1:], dtype=xp.bool, device=labels.device)
        last = labels[len(layers) - self.patience - 1 :, :]
        return xp.all(last == last[-1:, :], axis=0)

    def variants(
        self, log_probs: Array, layers: tuple[int, ...], *, size: int = 200
    ) -> list[ExitPolicy]:
        """Every patience, from as many exits as there are to none."""
        return [replace(self, patience=patience) for patience in reversed(range(len(layers)))]
