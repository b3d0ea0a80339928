"""A stage in words: what `exitwise plan` prints."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from exitwise.objectives import Objective
    from exitwise.regimes import Stage


def describe(stage: "Stage") -> dict[str, str]:
    """What is trained, on what loss and how fast, line by line.

    >>> from exitwise.regimes import ExitsRegime
    >>> (stage,) = ExitsRegime(epochs=3, learning_rate=1e-3).stages(4)
    >>> for name, words in describe(stage).items():
    ...     print(f"{name}: {words}")
    epochs: 3
    exits: 1 2 3
    encoder: frozen
    loss of an exit: 0.98 × cross-entropy + 0.02 × cross_layer contrast + 1 × soft targets
    gate: contrast is dropped where its gradient is more than 90° from cross-entropy's
    teacher: exit 4
    rates: exits 0.001
    """
    objective = stage.objective
    lines = {
        "epochs": f"{stage.epochs}",
        "exits": turns(stage),
        "encoder": "frozen" if stage.freeze_encoder else "trained",
        "loss of an exit": loss(objective),
    }
    if objective.auxiliary is not None:
        lines["gate"] = gate(objective)
    if objective.needs_teacher:
        lines["teacher"] = f"exit {stage.teacher}"
    return lines | {"rates": rates(stage)}


def turns(stage: "Stage") -> str:
    """The layers whose exits are trained, one part of the schedule after the other.

    >>> from exitwise.regimes import AlternatingRegime
    >>> turns(*AlternatingRegime().stages(3))
    '3, then 1 2 3, turn by turn, each for one epoch'
    """
    parts = [" ".join(map(str, layers)) for layers in stage.schedule]
    if len(parts) == 1:
        return parts[0]
    return f"{', then '.join(parts)}, turn by turn, each for one {stage.unit}"


def loss(objective: "Objective") -> str:
    """The terms with their weights, as they are while the gate is open."""
    terms = ["cross-entropy"]
    if objective.auxiliary is not None:
        kind = objective.auxiliary.registry.key(type(objective.auxiliary))
        of_ce = 1 if objective.ce_weight == "one" else 1 - objective.weight
        terms = [f"{of_ce:g} × cross-entropy", f"{objective.weight:g} × {kind} contrast"]
    if objective.soft_targets is not None and objective.soft_targets.weight > 0:
        terms.append(f"{objective.soft_targets.weight:g} × soft targets")
    return " + ".join(terms)


def gate(objective: "Objective") -> str:
    """When the contrastive term is dropped."""
    if objective.gate is None or not objective.gate.needs_angle:
        return "none"
    angle = f"{objective.gate.max_angle:g}°"
    return f"contrast is dropped where its gradient is more than {angle} from cross-entropy's"


def rates(stage: "Stage") -> str:
    """The peak learning rates."""
    exits = f"exits {stage.exit_learning_rate:g}"
    return exits if stage.freeze_encoder else f"encoder {stage.learning_rate:g}, {exits}"
