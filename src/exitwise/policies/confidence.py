"""Leave when the likeliest label is likely enough."""

from dataclasses import dataclass

from exitwise.policies.base import Array, ExitPolicy, ThresholdPolicy, namespace


@ExitPolicy.registry.register
@dataclass(frozen=True, kw_only=True)
class ConfidencePolicy(ThresholdPolicy):
    r"""Stops at layer m if $\max_k p_{m,k} \ge t_m$.

    Maximum probability as a measure of certainty at an exit: Kaya et al. 2019, Shallow-Deep
    Networks, https://arxiv.org/abs/1810.07052.
    """

    def score(self, log_probs: Array) -> Array:
        """The largest probability, from 1 / K to 1."""
        xp = namespace(log_probs)
        return xp.exp(xp.max(log_probs, axis=-1))

    def lowest_score(self, num_labels: int) -> float:
        """1 / K."""
        return 1 / num_labels
