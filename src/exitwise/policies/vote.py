"""Leave when enough exits have voted for one label."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from exitwise.errors import ExitwiseError
from exitwise.policies.base import Array, ExitPolicy, namespace


@ExitPolicy.registry.register
@dataclass(frozen=True, kw_only=True)
class VotePolicy(ExitPolicy):
    """Stops when some label has `votes` votes among all exits so far; that label is the answer.

    Sun et al. 2021, early exiting by an ensemble of exits, https://arxiv.org/abs/2105.13792.
    Of two labels with as many votes, the one with the larger sum of log-probabilities wins.

    Attributes:
        votes: 1 leaves at the first exit.
    """

    votes: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.votes < 1:
            raise ExitwiseError(f"votes must be at least 1, found {self.votes}")

    def check(self, *, layers: Collection[int], num_labels: int) -> None:
        """Whether there are as many exits as `votes` asks for."""
        super().check(layers=layers, num_labels=num_labels)
        self._check_exits("votes", len(layers), layers)

    def stops(self, log_probs: Array, layers: tuple[int, ...]) -> Array:
        """Whether a label has votes enough."""
        xp = namespace(log_probs)
        return xp.max(_counts(log_probs), axis=-1) >= self.votes

    def labels(self, log_probs: Array) -> Array:
        """The label with most votes."""
        xp = namespace(log_probs)
        counts = _counts(log_probs)
        is_leader = counts == xp.max(counts, axis=-1, keepdims=True)
        support = xp.sum(log_probs, axis=0)
        lowest = xp.full_like(support, -xp.inf)
        return xp.argmax(xp.where(is_leader, support, lowest), axis=-1)

    def variants(
        self, log_probs: Array, layers: tuple[int, ...], *, size: int = 200
    ) -> list[ExitPolicy]:
        """Every number of votes, from those of all exits to a single one."""
        return [replace(self, votes=votes) for votes in range(len(layers), 0, -1)]


def _counts(log_probs: Array) -> Array:
    """[n, k], the exits whose likeliest label is k."""
    xp = namespace(log_probs)
    labels = xp.argmax(log_probs, axis=-1)  # [m, n]
    classes = xp.arange(log_probs.shape[-1], device=log_probs.device)
    votes = xp.astype(labels[..., None] == classes, xp.int64)
    return xp.sum(votes, axis=0)
