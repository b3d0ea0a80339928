"""Exits below a finished last exit: the second stage of two-stage training, alone."""

from dataclasses import dataclass, field

from exitwise.objectives import Objective
from exitwise.regimes.stage import OneStageRegime, Regime, Stage


@Regime.registry.register
@dataclass(frozen=True, kw_only=True)
class ExitsRegime(OneStageRegime):
    """Freezes encoder and exit M, trains exits 1 … M-1, each by its own loss (section 6.1).

    This also puts exits on a classifier that someone has fine-tuned already.

    Attributes:
        objective: ACL-CL with gate and soft targets is the paper's; without contrast and
            gate it is plain two-stage training (2ST).
    """

    objective: Objective = field(default_factory=Objective.acl_cl)

    def stages(self, num_layers: int) -> tuple[Stage, ...]:
        """One stage, all exits but the last, with the last as their teacher."""
        if num_layers < 2:
            raise ValueError(f"exits below the last need at least 2 layers, found {num_layers}")
        return (
            Stage(
                name="exits",
                epochs=self.epochs,
                schedule=(tuple(range(1, num_layers)),),
                objective=self.objective,
                freeze_encoder=True,
                teacher=num_layers,
                learning_rate=self.learning_rate,
                exit_learning_rate=self.rate_of_exits,
            ),
        )
