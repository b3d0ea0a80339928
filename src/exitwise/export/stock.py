"""A shortened classifier as a class of transformers, which loads where exitwise is unknown."""

import copy
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from transformers import AutoModelForSequenceClassification, PreTrainedModel

from exitwise.exits import Exit, LinearExit, PoolerExit, PoolerExitConfig
from exitwise.modeling.classifier_heads import HEADS

STEP = 2.0**-12
"""Powers of two change no digit of what they multiply."""


def stock_classifier(
    encoder: PreTrainedModel, exit: Exit, labels: Sequence[str]
) -> PreTrainedModel | None:
    r"""The stock classifier that answers as the encoder with this exit does; `None` if none does.

    A pooler exit is the head of the encoder's own class. That class has no linear head: for a
    linear exit its activation is used where it is a straight line, $\tanh(\epsilon x) / \epsilon$
    with $\epsilon = 2^{-12}$, or $\mathrm{act}(x + b) - b$ with a b above the largest state that
    the encoder's norm lets through; that is within 1e-5 of the logits.

    Args:
        encoder: with the layers that are kept.
        exit: after its last layer.
        labels: the names of the classes.
    """
    kind = encoder.config.model_type
    is_pruned = hasattr(encoder.config, "kept_heads")  # which no stock class can build
    if is_pruned or kind not in HEADS or not isinstance(exit, LinearExit | PoolerExit):
        return None
    config = copy.deepcopy(encoder.config)
    config.id2label = dict(enumerate(labels))
    config.label2id = {label: index for index, label in enumerate(labels)}
    config.problem_type = "single_label_classification"
    model: PreTrainedModel = AutoModelForSequenceClassification.from_config(config)
    head = HEADS[kind](model)
    if isinstance(exit, PoolerExit) and pooler_activation(exit) != head.activation:
        return None
    base = model.base_model
    assert isinstance(base, PreTrainedModel)
    base.load_state_dict(encoder.state_dict(), strict=False)  # a pooler may be there in addition
    with torch.no_grad():
        if isinstance(exit, PoolerExit):
            copy_linear(head.dense, exit.dense.weight, exit.dense.bias)
            copy_linear(head.classifier, exit.classifier.weight, exit.classifier.bias)
        else:
            copy_straight(
                head.dense, head.classifier, head.activation, exit, largest_state(encoder)
            )
    model.eval()
    return model


def pooler_activation(exit: PoolerExit) -> str:
    """The name of what follows its dense layer."""
    assert isinstance(exit.config, PoolerExitConfig)
    return exit.config.activation


def copy_straight(
    dense: nn.Linear, classifier: nn.Linear, activation: str, exit: LinearExit, largest: float
) -> None:
    """A linear exit through an activation."""
    weight, bias = exit.classifier.weight, exit.classifier.bias
    identity = torch.eye(len(dense.weight))
    if activation == "tanh":
        copy_linear(dense, STEP * identity, None)
        copy_linear(classifier, weight / STEP, bias)
        return
    shift = torch.full((len(identity),), largest + 8)  # gelu is straight from 6 on
    moved = -(weight.double() @ shift.double()).float()
    copy_linear(dense, identity, shift)
    copy_linear(classifier, weight, moved if bias is None else bias + moved)


def copy_linear(target: nn.Linear, weight: Tensor, bias: Tensor | None) -> None:
    """Weights and bias, zeros where there is none."""
    target.weight.copy_(weight)
    assert target.bias is not None
    target.bias.copy_(torch.zeros_like(target.bias) if bias is None else bias)


def largest_state(encoder: PreTrainedModel) -> float:
    r"""No state that leaves a layer norm is larger than $\max |\gamma| \sqrt d + \max |\beta|$."""
    norms = [module for module in encoder.modules() if isinstance(module, nn.LayerNorm)]
    last = norms[-1]
    root = float(last.normalized_shape[0]) ** 0.5
    bound: float = last.weight.abs().max().item() * root + last.bias.abs().max().item()
    return bound
