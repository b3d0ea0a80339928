"""ALT: the last exit alone and all exits together, in turn."""

from dataclasses import dataclass, field

from exitwise.objectives import Objective
from exitwise.regimes.stage import OneStageRegime, Regime, Stage, Unit


@Regime.registry.register
@dataclass(frozen=True, kw_only=True)
class AlternatingRegime(OneStageRegime):
    """Odd epochs train the last exit, even epochs the sum over all exits (section 6.3).

    One optimiser and one schedule throughout. In an epoch of the last exit the other exits
    have no gradient at all, so that AdamW neither decays them nor moves them by momentum.

    Attributes:
        objective: the loss of each exit; the paper's baseline has cross-entropy alone.
        unit: "epoch" as the paper prints it, "step" as BERxiT's own code does
            (Xin et al. 2021, https://aclanthology.org/2021.eacl-main.8).
    """

    objective: Objective = field(default_factory=Objective.cross_entropy)
    unit: Unit = "epoch"

    def stages(self, num_layers: int) -> tuple[Stage, ...]:
        """One stage whose schedule has two entries."""
        return (
            Stage(
                name="alternating",
                epochs=self.epochs,
                schedule=((num_layers,), tuple(range(1, num_layers + 1))),
                unit=self.unit,
                objective=self.objective,
                learning_rate=self.learning_rate,
                exit_learning_rate=self.rate_of_exits,
            ),
        )
