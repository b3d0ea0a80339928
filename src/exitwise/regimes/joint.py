"""JT: all exits and the encoder at once, on the sum of the exits' losses."""

from dataclasses import dataclass, field
from typing import Literal

from exitwise.objectives import Objective
from exitwise.regimes.stage import OneStageRegime, Regime, Stage


@Regime.registry.register
@dataclass(frozen=True, kw_only=True)
class JointRegime(OneStageRegime):
    r"""Joint training: $\sum_{m=1}^{M} w_m \mathcal{L}^{(m)}$ over all parameters (Eq. 6).

    Attributes:
        objective: the loss of each exit; the paper's baseline has cross-entropy alone.
        weights: "equal" ($w_m = 1$, the paper) or "depth" ($w_m = m / \sum_j j$, as in PABEE,
            Zhou et al. 2020, https://arxiv.org/abs/2006.04152).
    """

    objective: Objective = field(default_factory=Objective.cross_entropy)
    weights: Literal["equal", "depth"] = "equal"

    def stages(self, num_layers: int) -> tuple[Stage, ...]:
        """One stage, all exits in each step."""
        layers = tuple(range(1, num_layers + 1))
        depth = tuple(layer / sum(layers) for layer in layers)
        return (
            Stage(
                name="joint",
                epochs=self.epochs,
                schedule=(layers,),
                objective=self.objective,
                layer_weights=depth if self.weights == "depth" else None,
                learning_rate=self.learning_rate,
                exit_learning_rate=self.rate_of_exits,
            ),
        )
