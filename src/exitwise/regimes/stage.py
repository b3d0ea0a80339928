"""A stage: one run of training with one optimiser and one schedule. A regime is a row of stages."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

from exitwise.bounds import check_at_least, check_positive
from exitwise.gradients import GradientGate
from exitwise.objectives import Objective
from exitwise.registry import Registry

Unit = Literal["epoch", "step"]


@dataclass(frozen=True, kw_only=True)
class Stage:
    """Which exits learn what, from whom, for how long.

    Attributes:
        name: also the name of the stage's folder in a run.
        epochs: passes over the training data.
        schedule: the layers whose exits are trained, one entry a unit, repeated cyclically.
            `((12,), (1, …, 12))` alternates between the last exit and all exits.
        unit: what one entry of the schedule lasts.
        objective: the loss of each exit.
        layer_weights: the factor of each trained layer's loss, in the order of the layers
            1 … M; `None` weighs all the same.
        freeze_encoder: only the exits of the schedule are trained, each by its own loss, gate
            and clipping. All else is frozen and runs in evaluation mode.
        teacher: the layer whose exit gives soft targets and contrast, without gradient.
        learning_rate: the peak rate of the encoder.
        exit_learning_rate: the peak rate of the exits.
    """

    name: str
    epochs: int
    schedule: tuple[tuple[int, ...], ...]
    unit: Unit = "epoch"
    objective: Objective
    layer_weights: tuple[float, ...] | None = None
    freeze_encoder: bool = False
    teacher: int | None = None
    learning_rate: float
    exit_learning_rate: float

    def __post_init__(self) -> None:
        if not self.schedule or not all(self.schedule):
            raise ValueError(f"each entry of a schedule needs a layer, found {self.schedule}")
        if self.objective.needs_teacher and self.teacher is None:
            raise ValueError(f"the objective of stage {self.name!r} needs a teacher, found none")
        if self.teacher in self.layers:
            raise ValueError(f"exit {self.teacher} cannot be its own teacher")
        if self.freeze_encoder and self.objective.gate is not None:
            self._check_gate(self.objective.gate)

    def _check_gate(self, gate: GradientGate) -> None:
        if gate.parameters == "encoder":
            raise ValueError(f"the gate of stage {self.name!r} compares a frozen encoder")
        if not gate.is_exact:
            raise ValueError(
                f"stage {self.name!r} decides for each exit on a frozen encoder, which costs next "
                "to nothing: its gate takes neither a shortcut nor an interval"
            )

    @property
    def layers(self) -> tuple[int, ...]:
        """All layers whose exits are trained at some time, in ascending order."""
        return tuple(sorted(set().union(*self.schedule)))

    @property
    def measured_layers(self) -> tuple[int, ...]:
        """The layers whose exits mean something: those trained here, and the teacher's."""
        teacher = () if self.teacher is None else (self.teacher,)
        return tuple(sorted({*self.layers, *teacher}))

    def layers_at(self, *, epoch: int, step: int) -> tuple[int, ...]:
        """The layers trained in an epoch and optimiser step, both counted from 0."""
        turn = epoch if self.unit == "epoch" else step
        return self.schedule[turn % len(self.schedule)]

    def weight_of(self, layer: int) -> float:
        """The factor of a layer's loss."""
        return 1.0 if self.layer_weights is None else self.layer_weights[layer - 1]


class Regime(ABC):
    """A way to train a multi-exit encoder, as data: a number of layers in, stages out."""

    registry: ClassVar[Registry["Regime"]] = Registry("regime", suffix="Regime")

    @abstractmethod
    def stages(self, num_layers: int) -> tuple[Stage, ...]:
        """The plan for an encoder of that many layers."""


@dataclass(frozen=True, kw_only=True)
class OneStageRegime(Regime):
    """What the regimes of a single stage share: how long, and how fast.

    Attributes:
        epochs: passes over the training data (the paper: 15).
        learning_rate: the peak rate of AdamW (the paper: 2e-5).
        exit_learning_rate: the peak rate of the exits, the same if `None`. A fresh exit moves
            at most by the sum of all rates, so that short runs need a larger one.
    """

    epochs: int = 15
    learning_rate: float = 2e-5
    exit_learning_rate: float | None = None

    def __post_init__(self) -> None:
        check_at_least(1, self, "epochs")
        check_positive(self, "learning_rate", "exit_learning_rate")

    @property
    def rate_of_exits(self) -> float:
        """The exits' peak rate with its default resolved."""
        rate = self.exit_learning_rate
        return self.learning_rate if rate is None else rate
