"""How many rows a forward pass and an update see, so that an epoch has about 200 updates."""

import math
from dataclasses import dataclass

from exitwise.bounds import check_at_least

UPDATES_PER_EPOCH = 200
MAX_MICRO_BATCH = 32


@dataclass(frozen=True, kw_only=True)
class BatchPlan:
    """The sizes of one epoch.

    Attributes:
        micro_batch: rows of one forward pass, the N of the contrastive losses.
        accumulation: micro-batches of one update.
        num_rows: rows of the training set.
    """

    micro_batch: int
    accumulation: int
    num_rows: int

    def __post_init__(self) -> None:
        check_at_least(1, self, "micro_batch", "accumulation", "num_rows")

    @property
    def updates_per_epoch(self) -> int:
        """Updates in a pass over the rows; the last one may see fewer."""
        return math.ceil(math.ceil(self.num_rows / self.micro_batch) / self.accumulation)


def batch_plan(
    num_rows: int, *, micro_batch: int | None = None, accumulation: int | None = None
) -> BatchPlan:
    r"""The plan for a training set: about 200 updates an epoch, at most 32 rows at once.

    With $t = n / 200$ rows an update: if $t \le 32$, one micro-batch of $\mathrm{round}(t)$ rows;
    else $\lceil t / 32 \rceil$ micro-batches of $\mathrm{round}(t / \lceil t / 32 \rceil)$ rows.
    The paper says "about 200 updates" and no more. Below 300 rows a micro-batch is one row.
    The last micro-batch may be smaller and is used.

    Args:
        num_rows: n, rows of the training set.
        micro_batch: chosen by hand, of any size; the accumulation follows from it.
        accumulation: chosen by hand; the micro-batch follows from it, still at most 32.

    >>> batch_plan(8551)  # CoLA
    BatchPlan(micro_batch=21, accumulation=2, num_rows=8551)
    >>> batch_plan(8551).updates_per_epoch
    204
    >>> batch_plan(8551, micro_batch=8).accumulation
    5
    """
    per_update = num_rows / UPDATES_PER_EPOCH
    if micro_batch is not None and micro_batch < 1:
        raise ValueError(f"micro_batch must be at least 1, found {micro_batch}")
    if accumulation is None:
        if micro_batch is None:
            accumulation = max(1, math.ceil(per_update / MAX_MICRO_BATCH))
        else:
            accumulation = max(1, round(per_update / micro_batch))
    if micro_batch is None:
        micro_batch = min(MAX_MICRO_BATCH, max(1, round(per_update / max(1, accumulation))))
    return BatchPlan(micro_batch=micro_batch, accumulation=accumulation, num_rows=num_rows)
