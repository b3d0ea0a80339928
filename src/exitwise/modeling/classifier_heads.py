"""The heads of stock sequence classifiers that are a `PoolerExit` under another name."""

from collections.abc import Callable
from typing import Any, NamedTuple, get_args

from torch import nn
from transformers import PreTrainedModel

from exitwise.errors import UnsupportedError
from exitwise.exits import PoolerExit, PoolerExitConfig
from exitwise.exits.pooler import Activation

# Which modules a classifier of the library has differs by class, and no type says so.
Classifier = Any


class Head(NamedTuple):
    r"""The parts of a classifier's head: $\mathrm{act}(H_0 W_p + b_p)$, dropout, $W$ and $b$.

    Attributes:
        dense: the layer on the first token.
        activation: what follows it, by the library's name.
        dropout: the share that is dropped before the classifier.
        classifier: the linear map that gives the logits.
    """

    dense: nn.Linear
    activation: str
    dropout: float
    classifier: nn.Linear


def _bert(model: Classifier) -> Head:
    dense = getattr(model, model.base_model_prefix).pooler.dense
    return Head(dense, "tanh", model.dropout.p, model.classifier)


def _albert(model: Classifier) -> Head:
    return Head(model.albert.pooler, "tanh", model.dropout.p, model.classifier)


def _roberta(model: Classifier) -> Head:
    head = model.classifier
    return Head(head.dense, "tanh", head.dropout.p, head.out_proj)


def _electra(model: Classifier) -> Head:
    return _roberta(model)._replace(activation="gelu")


def _distilbert(model: Classifier) -> Head:
    return Head(model.pre_classifier, "relu", model.dropout.p, model.classifier)


def _deberta(model: Classifier) -> Head:
    activation = model.config.pooler_hidden_act
    return Head(model.pooler.dense, activation, model.dropout.p, model.classifier)


ACTIVATIONS: dict[str, Activation] = {name: name for name in get_args(Activation)}

HEADS: dict[str, Callable[[Classifier], Head]] = {
    "albert": _albert,
    "bert": _bert,
    "camembert": _roberta,
    "deberta-v2": _deberta,
    "distilbert": _distilbert,
    "electra": _electra,
    "ernie": _bert,
    "mpnet": _roberta,
    "roberta": _roberta,
    "xlm-roberta": _roberta,
}


def check_head_is_known(model_type: str) -> None:
    """Refuses a type of model by name whose classifier nobody has compared with an exit.

    Raises:
        UnsupportedError: ModernBERT, for one, pools by mean and has a norm in its head.
    """
    if model_type not in HEADS:
        raise UnsupportedError(
            f"the head of a classifier of type {model_type!r} cannot become an exit; "
            f"these can: exitwise, {', '.join(HEADS)}"
        )


def pooler_exit(model: PreTrainedModel) -> PoolerExit:
    """The head of a stock classifier as an exit of the same function, with copied weights.

    Raises:
        UnsupportedError: the activation is one that `PoolerExit` does not have.
    """
    head = HEADS[model.config.model_type](model)
    if head.activation not in ACTIVATIONS:
        raise UnsupportedError(
            f"the head of {type(model).__name__} has the activation {head.activation!r}; "
            f"a pooler exit has one of {', '.join(ACTIVATIONS)}"
        )
    config = PoolerExitConfig(dropout=head.dropout, activation=ACTIVATIONS[head.activation])
    width, num_labels = head.dense.in_features, head.classifier.out_features
    exit = PoolerExit(config, encoder_width=width, num_labels=num_labels)
    exit.dense.load_state_dict(head.dense.state_dict())
    exit.classifier.load_state_dict(head.classifier.state_dict())
    return exit
