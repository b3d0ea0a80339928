"""Leave when the labels' distribution is certain enough."""

import math
from dataclasses import dataclass

from exitwise.policies.base import Array, ExitPolicy, ThresholdPolicy, namespace


@ExitPolicy.registry.register
@dataclass(frozen=True, kw_only=True)
class EntropyPolicy(ThresholdPolicy):
    r"""Stops at layer m if $H(p_m) / \ln K \le t_m$, with $0 \log 0 = 0$.

    Teerapittayanon et al. 2016, BranchyNet, https://arxiv.org/abs/1709.01686; for BERT Xin et
    al. 2020, DeeBERT, https://arxiv.org/abs/2004.12993. Divided by $\ln K$, one scale from 0 to
    1 serves any number of labels.
    """

    high_is_sure = False

    def score(self, log_probs: Array) -> Array:
        """The entropy as a share of its maximum, from 0 to 1."""
        xp = namespace(log_probs)
        entropy = -xp.sum(xp.exp(log_probs) * log_probs, axis=-1)
        return entropy / math.log(log_probs.shape[-1])
