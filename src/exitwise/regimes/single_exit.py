"""One exit on the last layer: plain fine-tuning, and the backbone of two-stage training."""

from dataclasses import dataclass, field

from exitwise.objectives import Objective
from exitwise.regimes.stage import OneStageRegime, Regime, Stage


@Regime.registry.register
@dataclass(frozen=True, kw_only=True)
class SingleExitRegime(OneStageRegime):
    """Trains the encoder and the exit of its last layer (section 6.1, stage 1).

    Attributes:
        objective: cross-entropy alone gives the "CE backbone", with ACL-Embed and ACL-Grad
            the "ACL backbone".
    """

    objective: Objective = field(default_factory=Objective.acl)

    def stages(self, num_layers: int) -> tuple[Stage, ...]:
        """One stage, the last exit alone."""
        return (
            Stage(
                name="backbone",
                epochs=self.epochs,
                schedule=((num_layers,),),
                objective=self.objective,
                learning_rate=self.learning_rate,
                exit_learning_rate=self.rate_of_exits,
            ),
        )
