"""Leave when the likeliest label is far enough ahead."""

from dataclasses import dataclass

from exitwise.policies.base import Array, ExitPolicy, ThresholdPolicy, namespace


@ExitPolicy.registry.register
@dataclass(frozen=True, kw_only=True)
class MarginPolicy(ThresholdPolicy):
    r"""Stops at layer m if $p_m^{(1)} - p_m^{(2)} \ge t_m$: the two largest probabilities."""

    def score(self, log_probs: Array) -> Array:
        """The distance of the two largest probabilities, from 0 to 1."""
        xp = namespace(log_probs)
        ordered = xp.sort(xp.exp(log_probs), axis=-1)
        return ordered[..., -1] - ordered[..., -2]
