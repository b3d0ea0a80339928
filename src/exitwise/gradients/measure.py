"""The parts of a gated step, for whoever wants to know how long each takes."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

Measure = Callable[[str], AbstractContextManager[None]]
"""Opens the part of that name; it lasts as long as the context."""

CE = "backward: cross-entropy"  # with the comparison of the two gradients, parameter by parameter
CONTRAST = "backward: contrastive"
COMBINED = "backward: combined loss"
SOFT_TARGETS = "backward: soft targets"
GATE = "gate"


def unmeasured(part: str) -> AbstractContextManager[None]:
    """Measures nothing."""
    return nullcontext()
