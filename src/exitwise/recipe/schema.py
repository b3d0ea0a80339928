"""The recipe: everything that decides the result of a run, as one frozen tree."""

from dataclasses import dataclass, field

from exitwise.bounds import check_at_least
from exitwise.compression import Compression
from exitwise.data import DataConfig
from exitwise.exits import ExitConfig, MHAExitConfig
from exitwise.regimes import Regime, TwoStageRegime
from exitwise.training import TrainingSettings


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What is trained, on what, and how. TOML is its written form.

    Attributes:
        encoder: a folder or hub id of a pre-trained encoder.
        start_from: a folder or hub id of a trained classifier instead: a run or model of
            exitwise, or a stock sequence classifier. Its encoder and its head, which becomes
            exit M, are kept; the other exits are fresh.
        num_layers: keep only the first so many layers of the encoder.
        data: texts and labels.
        exit: the kind and settings of the exits.
        last_exit: those of exit M, if they differ.
        regime: the plan of stages; `None` where compression alone trains.
        compression: makes the model smaller after the last stage, for all texts alike; the
            static baselines that early exit is compared with.
        training: what all stages share.
        seed: of initialisation, order, dropout and splits.
    """

    encoder: str | None = None
    start_from: str | None = None
    num_layers: int | None = None
    data: DataConfig
    exit: ExitConfig = field(default_factory=MHAExitConfig)
    last_exit: ExitConfig | None = None
    regime: Regime | None = field(default_factory=TwoStageRegime)
    compression: Compression | None = None
    training: TrainingSettings = field(default_factory=TrainingSettings)
    seed: int = 42

    def __post_init__(self) -> None:
        if (self.encoder is None) == (self.start_from is None):
            raise ValueError(
                "give either encoder (a pre-trained one) or start_from (a trained classifier), "
                f"found encoder={self.encoder!r} and start_from={self.start_from!r}"
            )
        if self.start_from is not None and (self.num_layers or self.last_exit):
            raise ValueError(
                "start_from keeps all layers and the last exit of its model: "
                "num_layers and last_exit cannot be given with it"
            )
        if self.regime is None and self.compression is None:
            raise ValueError("nothing would be trained: give a regime, a compression or both")
        if self.compression is not None:
            self._check_compression()
        check_at_least(1, self, "num_layers")

    def _check_compression(self) -> None:
        """A compression plans its own training, and measures nothing on the way."""
        training = self.training
        given = {
            "checkpoint = 'best'": training.checkpoint == "best",
            "class_weights": training.class_weights,
        }
        ignored = [name for name, is_given in given.items() if is_given and self.regime is None]
        if ignored:
            raise ValueError(f"a compression alone cannot follow {ignored[0]}: leave it out")
