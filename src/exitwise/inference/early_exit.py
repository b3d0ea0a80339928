"""Routing: every text leaves at the exit that is sure of it, and later layers never see it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from exitwise.bounds import check_at_least
from exitwise.errors import ExitwiseError
from exitwise.inference.answers import Answers
from exitwise.inference.engine import Engine, batches
from exitwise.policies import ExitPolicy


class Waiting(NamedTuple):
    """Texts that have passed the same exits and go on together.

    Attributes:
        rows: their numbers among all that were asked.
        state: the engine's, after the last of these exits.
        log_probs: what the exits have said so far, by the policy's temperatures.
    """

    rows: Int[ndarray, " n"]
    state: Any
    log_probs: Float[ndarray, "m n k"]


class EarlyExit:
    """Runs an engine under a policy. It has no state between calls: threads may share it.

    Survivors of several batches are merged before the next layer, so that deep layers run full
    batches as well. The last exit answers what no exit before it was sure of.

    Args:
        engine: the classifier.
        policy: says who leaves.
        layers: the exits that are asked, all if `None`; with a single one all texts leave there.
        batch_size: rows of a batch at any depth, at least 1.
    """

    def __init__(
        self,
        engine: Engine[Any],
        policy: ExitPolicy,
        *,
        layers: Sequence[int] | None = None,
        batch_size: int = 32,
    ) -> None:
        self.engine = engine
        self.policy = policy
        self.layers = checked_layers(engine, layers)
        self.batch_size = batch_size
        check_at_least(1, self, "batch_size")  # with less, no text would be answered
        policy.check(layers=self.layers, num_labels=len(engine.labels))

    def __call__(self, texts: Sequence[Any], pairs: Sequence[Any] | None = None) -> Answers:
        """Answers texts, or pairs of texts, in their order."""
        answers = Answers.unknown(len(self.layers), len(texts), len(self.engine.labels))
        for start, encoded in self.engine.windows(texts, pairs):
            pools = [Pool(self.engine, self.batch_size) for _ in self.layers]
            for rows in batches(encoded, self.batch_size):
                state = self.engine.start(encoded.select(rows))
                nothing = np.empty((0, len(rows), len(self.engine.labels)))
                pools[0].add(Waiting(start + rows, state, nothing))
                self._run(pools, answers, least=self.batch_size)
            self._run(pools, answers, least=1)
        return answers

    def _run(self, pools: "list[Pool]", answers: Answers, *, least: int) -> None:
        """Runs pools of at least so many rows, from shallow to deep; there are none after it."""
        for depth, pool in enumerate(pools):
            while len(pool) >= least:
                rest = self._step(depth, pool.take(), answers)
                if rest is not None:
                    pools[depth + 1].add(rest)

    def _step(self, depth: int, waiting: Waiting, answers: Answers) -> Waiting | None:
        """Runs one batch to its next exit, and gives back who goes on."""
        layer, previous = self.layers[depth], self.layers[depth - 1] if depth else 0
        state, newest = self.engine.run(waiting.state, after=previous, to=layer)
        said = self.policy.log_probabilities(newest[None], (layer,))
        log_probs = np.concatenate([waiting.log_probs, said])
        on = answers.note(self.policy, self.layers, waiting.rows, newest, log_probs)
        if not len(on):
            return None
        if len(on) == len(waiting.rows):
            return Waiting(waiting.rows, state, log_probs)
        return Waiting(waiting.rows[on], self.engine.keep(state, on), log_probs[:, on])


class Pool:
    """Where survivors wait at one depth until they fill a batch."""

    def __init__(self, engine: Engine[Any], batch_size: int) -> None:
        self.engine = engine
        self.batch_size = batch_size
        self.waiting: list[Waiting] = []

    def __len__(self) -> int:
        return sum(len(each.rows) for each in self.waiting)

    def add(self, waiting: Waiting) -> None:
        """Puts a batch, or what is left of it, into the pool."""
        self.waiting.append(waiting)

    def take(self) -> Waiting:
        """As many rows as fill a batch, those first that came first; all if there are fewer."""
        taken: list[Waiting] = []
        room = self.batch_size
        while self.waiting and room:
            first = self.waiting.pop(0)
            if len(first.rows) > room:
                self.waiting.insert(0, self._part(first, np.arange(room, len(first.rows))))
                first = self._part(first, np.arange(room))
            taken.append(first)
            room -= len(first.rows)
        if len(taken) == 1:
            return taken[0]
        return Waiting(
            np.concatenate([each.rows for each in taken]),
            self.engine.join([each.state for each in taken]),
            np.concatenate([each.log_probs for each in taken], axis=1),
        )

    def _part(self, waiting: Waiting, rows: Int[ndarray, " r"]) -> Waiting:
        state = self.engine.keep(waiting.state, rows)
        return Waiting(waiting.rows[rows], state, waiting.log_probs[:, rows])


def checked_layers(engine: Engine[Any], layers: Sequence[int] | None) -> tuple[int, ...]:
    """The exits that are asked, in ascending order.

    Raises:
        ExitwiseError: the classifier has no exit at one of them.
    """
    if layers is None:
        return engine.exit_layers
    there = ", ".join(map(str, engine.exit_layers))
    missing = sorted(set(layers) - set(engine.exit_layers))
    if missing:
        asked = ", ".join(map(str, missing))
        raise ExitwiseError(f"no exit at layer {asked}: the model has exits at {there}")
    if not layers:
        raise ExitwiseError(f"no exit is asked at all: the model has exits at {there}")
    return tuple(sorted(set(layers)))
