"""What a finished classifier scores at every exit, and what to read it beside."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from exitwise.data import TextDataset
from exitwise.inference import Engine, replay
from exitwise.metrics import (
    class_table,
    constant_warning,
    majority_baseline,
    majority_class,
    num_labelled,
    score,
    score_exits,
)
from exitwise.policies import ExitPolicy
from exitwise.training import average_score


def measure(
    engine: Engine[Any],
    texts: TextDataset,
    *,
    layers: Sequence[int],
    metric: str,
    train_labels: Sequence[int] | None = None,
    policy: ExitPolicy | None = None,
) -> dict[str, Any]:
    """The scores of the exits on a set of texts, and of early exit, as plain data.

    Rows without label are answered and not scored; without any label there are no scores.

    Args:
        engine: the classifier.
        texts: what it is asked.
        layers: which exits.
        metric: the task's.
        train_labels: whose most frequent class the majority baseline answers; by default that
            of the scored labels.
        policy: with which texts leave early, among the exits at `layers`.
    """
    logits = engine.logits(texts.texts, texts.pairs, layers=layers)
    labels = np.asarray(texts.labels)
    found = {"rows": len(texts), "labelled": num_labelled(labels)} | scores_of(
        logits, labels, engine.labels, layers=layers, metric=metric, train_labels=train_labels
    )
    if policy is not None:
        found["early_exit"] = early_exit_of(policy, logits, labels, layers=layers, metric=metric)
    return found


def early_exit_of(
    policy: ExitPolicy,
    logits: Float[ndarray, "m n k"],
    labels: ndarray,
    *,
    layers: Sequence[int],
    metric: str,
) -> dict[str, Any]:
    """Scores where each text leaves, the mean layer and the number of texts by exit."""
    answers = replay(policy, logits, layers)
    return {
        "scores": score(answers.labels, labels, metric, logits.shape[-1]),
        "mean_layer": float(answers.layers.mean()),
        "rows": {str(layer): count for layer, count in answers.histogram(layers).items()},
    }


def scores_of(
    logits: Float[ndarray, "m n k"],
    labels: ndarray,
    names: Sequence[str],
    *,
    layers: Sequence[int],
    metric: str,
    train_labels: Sequence[int] | None,
) -> dict[str, Any]:
    """Scores by exit, their average, the majority baseline, and the deepest exit by class."""
    exits = score_exits(logits, layers, labels, metric)
    if not all(exits.values()):
        return {"exits": {}}
    predictions = logits.argmax(axis=-1)
    majority = None if train_labels is None else majority_class(np.asarray(train_labels))
    warnings = {
        str(layer): constant_warning(predicted, names)
        for layer, predicted in zip(layers, predictions, strict=True)
    }
    table = class_table(predictions[-1], labels, len(names))
    return {
        "exits": {str(layer): scores for layer, scores in exits.items()},
        "average": average_score(exits),
        "majority": majority_baseline(labels, metric, len(names), majority=majority),
        "constant": {layer: text for layer, text in warnings.items() if text},
        "classes": {name: row._asdict() for name, row in zip(names, table, strict=True)},
    }
