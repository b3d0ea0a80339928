"""Which parameters learn how fast."""

import re
from collections.abc import Collection, Iterable
from typing import Any

from torch import Tensor
from torch.optim import Optimizer
from transformers import Trainer

IN_EXITS = re.compile(r"(^|\.)exits\.")


def grouped_optimizer(
    trainer: Trainer, *, learning_rate: float, exit_learning_rate: float
) -> Optimizer:
    """The optimiser that a Trainer's arguments name, AdamW by default, on `parameter_groups`.

    Biases and norms do not decay.
    """
    model, args = trainer.model, trainer.args
    assert model is not None  # given, not left to `model_init`
    optimizer_class, settings = trainer.get_optimizer_cls_and_kwargs(
        args,
        model,  # type: ignore[arg-type] # any module will do
    )
    groups = parameter_groups(
        model.named_parameters(),
        learning_rate=learning_rate,
        exit_learning_rate=exit_learning_rate,
        weight_decay=args.weight_decay,
        decayed=trainer.get_decay_parameter_names(model),
    )
    optimizer: Optimizer = optimizer_class(groups, **settings)
    return optimizer


def parameter_groups(
    parameters: Iterable[tuple[str, Tensor]],
    *,
    learning_rate: float,
    exit_learning_rate: float,
    weight_decay: float,
    decayed: Collection[str],
) -> list[dict[str, Any]]:
    """The optimiser's groups: one rate for exits and one for all else, decay where it belongs.

    Args:
        parameters: with their names; an exit's contain `exits.`. Frozen ones are left out.
        learning_rate: the peak rate.
        exit_learning_rate: that of the exits.
        weight_decay: of the parameters in `decayed`.
        decayed: their names.
    """
    groups: dict[tuple[float, float], list[Tensor]] = {}
    for name, parameter in parameters:
        if parameter.requires_grad:
            rate = exit_learning_rate if IN_EXITS.search(name) else learning_rate
            decay = weight_decay if name in decayed else 0.0
            groups.setdefault((rate, decay), []).append(parameter)
    return [
        {"params": each, "lr": rate, "weight_decay": decay}
        for (rate, decay), each in groups.items()
    ]
