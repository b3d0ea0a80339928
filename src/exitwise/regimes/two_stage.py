"""2ST: first the encoder with its last exit, then the other exits on the frozen encoder."""

from dataclasses import dataclass, field

from exitwise.regimes.exits import ExitsRegime
from exitwise.regimes.single_exit import SingleExitRegime
from exitwise.regimes.stage import Regime, Stage


@Regime.registry.register
@dataclass(frozen=True, kw_only=True)
class TwoStageRegime(Regime):
    """The paper's main setting (section 6.1): two stages, each with a fresh optimiser.

    With the defaults it is the full method: ACL-Embed and ACL-Grad in the first stage, ACL-CL,
    ACL-Grad and soft targets in the second. Epochs and rates stand in the two
    parts.
    """

    backbone: SingleExitRegime = field(default_factory=SingleExitRegime)
    exits: ExitsRegime = field(default_factory=ExitsRegime)

    def stages(self, num_layers: int) -> tuple[Stage, ...]:
        """The stages of the two parts, one after the other."""
        return self.backbone.stages(num_layers) + self.exits.stages(num_layers)
