"""Leave at one layer, whatever the exit says."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from exitwise.errors import ExitwiseError
from exitwise.policies.base import Array, ExitPolicy, namespace


@ExitPolicy.registry.register
@dataclass(frozen=True, kw_only=True)
class FixedPolicy(ExitPolicy):
    """Stops at layer `layer`: a static model of that many layers.

    Attributes:
        layer: from 1 to M.
    """

    layer: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.layer < 1:
            raise ExitwiseError(f"layers are counted from 1, found {self.layer}")

    def stops(self, log_probs: Array, layers: tuple[int, ...]) -> Array:
        """Whether the layer is reached."""
        xp = namespace(log_probs)
        rows = log_probs.shape[1:2]
        return xp.full(rows, layers[-1] >= self.layer, dtype=xp.bool, device=log_probs.device)

    def variants(
        self, log_probs: Array, layers: tuple[int, ...], *, size: int = 200
    ) -> list[ExitPolicy]:
        """Every layer that has an exit, from the last to the first."""
        return [replace(self, layer=layer) for layer in reversed(layers)]

    def check(self, *, layers: Collection[int], num_labels: int) -> None:
        """Whether there is an exit at that layer."""
        super().check(layers=layers, num_labels=num_labels)
        if self.layer not in layers:
            there = ", ".join(map(str, sorted(layers)))
            raise ExitwiseError(f"no exit at layer {self.layer}: the model has exits at {there}")
