"""What was run is counted, and changes nothing."""

from collections.abc import Callable
from typing import Any

import numpy as np

from exitwise.inference import EarlyExit, Engine
from exitwise.inference.metered import MeteredEngine
from exitwise.policies import ConfidencePolicy


def test_rows_that_leave_early_are_not_counted_later(stored: Callable[..., Engine[Any]]) -> None:
    logits = np.zeros((3, 4, 2), np.float32)
    logits[0, :2, 0] = 9.0  # two rows are sure at once
    logits[1, 2, 0] = 9.0  # one after layer 2
    meter = MeteredEngine(stored(logits, (1, 2, 3)))
    route = EarlyExit(meter, ConfidencePolicy(threshold=0.9), batch_size=4)
    answers = route(["0", "1", "2", "3"])
    assert answers.layers.tolist() == [1, 1, 2, 3]
    assert meter.spent == 4 + 2 + 1  # one a layer and row
    assert meter.tokens_begun == 4  # each text is one token long
