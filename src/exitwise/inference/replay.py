"""Early exit on stored logits: what the routing would do, without running a layer."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from exitwise.inference.answers import Answers
from exitwise.policies import ExitPolicy


def replay(policy: ExitPolicy, logits: Float[ndarray, "m n k"], layers: Sequence[int]) -> Answers:
    """The answers that a policy gives where the exits at `layers` have said `logits`."""
    policy.check(layers=layers, num_labels=logits.shape[-1])
    answers = Answers.unknown(*logits.shape)
    log_probs = policy.log_probabilities(logits, tuple(layers))
    running = np.arange(logits.shape[1])
    for depth in range(len(layers)):
        if not len(running):
            break
        seen = log_probs[: depth + 1, running]
        running = running[answers.note(policy, layers, running, logits[depth, running], seen)]
    return answers


def stops_of(
    policy: ExitPolicy, log_probs: Float[ndarray, "m n k"], layers: Sequence[int]
) -> tuple[Int[ndarray, " n"], Int[ndarray, " n"]]:
    """Depth (counted from 0) and label of each row's answer, the temperatures applied already.

    As `replay`, for many policies on the same rows: the softmax is not taken again.
    """
    depths = np.full(log_probs.shape[1], len(layers) - 1)
    labels = policy.labels(log_probs)
    for depth in reversed(range(len(layers) - 1)):
        seen = log_probs[: depth + 1]
        stop = policy.stops(seen, tuple(layers[: depth + 1]))
        depths = np.where(stop, depth, depths)
        labels = np.where(stop, policy.labels(seen), labels)
    return depths, labels
