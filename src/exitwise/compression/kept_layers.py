"""A model of some layers of another."""

import copy
from collections.abc import Sequence

from torch import nn

from exitwise.encoders import kept_heads, layerwise, set_kept_heads
from exitwise.errors import UnsupportedError
from exitwise.modeling import MultiExitForSequenceClassification


def with_layers(
    model: MultiExitForSequenceClassification, layers: Sequence[int]
) -> MultiExitForSequenceClassification:
    """A copy that runs only some layers, in their order, with the last exit of the whole model.

    Args:
        model: the whole one; it is not changed.
        layers: which of its layers, ascending.

    Raises:
        UnsupportedError: its layers are not made alike (ModernBERT's attend locally by turns) or
            are one module (ALBERT's), so that they cannot be chosen freely.
    """
    check_layers_are_free(model.encoder.config.model_type)
    encoder = copy.deepcopy(model.encoder)
    walk = layerwise(encoder)
    modules = walk.layers
    assert isinstance(modules, nn.ModuleList)  # ALBERT's are not, and it was refused
    kept = [modules[layer - 1] for layer in layers]
    heads = kept_heads(encoder.config)
    walk.cut(len(kept))
    for place, module in enumerate(kept):
        modules[place] = module
    set_kept_heads(encoder.config, [heads[layer - 1] for layer in layers])
    last = copy.deepcopy(model.exit(model.num_layers))
    smaller = MultiExitForSequenceClassification.around(
        encoder,
        labels=model.config.label_names,
        exit=last.config,
        exit_layers=[len(kept)],
    )
    smaller.exits[str(len(kept))] = last
    return smaller


def check_layers_are_free(model_type: str) -> None:
    """Refuses encoders by name whose layers cannot be chosen freely; see `with_layers`.

    Raises:
        UnsupportedError: it is one of them.
    """
    if model_type in ("albert", "modernbert"):
        raise UnsupportedError(
            f"layers of an encoder of type {model_type!r} cannot be taken out of their order: "
            "use num_layers, which keeps the first ones"
        )


def check_keep(num_kept: int, num_layers: int) -> None:
    """Refuses to keep no layer, or more than there are."""
    if not 1 <= num_kept <= num_layers:
        raise ValueError(f"keep must be from 1 to {num_layers}, found {num_kept}")


def spread(num_kept: int, num_layers: int) -> tuple[int, ...]:
    """So many layers, evenly spread, the last one among them.

    >>> spread(6, 12)
    (2, 4, 6, 8, 10, 12)
    >>> spread(2, 3)
    (2, 3)
    """
    check_keep(num_kept, num_layers)
    return tuple(-(-num_layers * place // num_kept) for place in range(1, num_kept + 1))
