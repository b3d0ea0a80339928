"""The frozen encoder's hidden states, computed once per text instead of once per epoch."""

import logging
from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.utils.data import Dataset

from exitwise.data import EncodedTexts, PadBatch
from exitwise.modeling import MultiExitForSequenceClassification
from exitwise.training.settings import Precision, dtype_of

logger = logging.getLogger(__name__)

Row = dict[str, Tensor]
ROWS_AT_ONCE = 64


class FrozenHiddenStates(Dataset[Row]):
    """What frozen layers say of each text, unpadded, in memory.

    The frozen encoder's output never changes, so that stage 2 reads it from here. It takes
    tokens x layers x width values: of two bytes if the encoder ran in bfloat16, else of four.

    Args:
        rows: for each text `hidden` [m, l, d] of its l tokens after m layers, and `labels`.
    """

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self.lengths = [row["hidden"].shape[1] for row in rows]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Row:
        return self.rows[index]

    @property
    def num_bytes(self) -> int:
        """The size of all hidden states."""
        return sum(row["hidden"].nbytes for row in self.rows)


@torch.no_grad()
def cache_hidden_states(
    model: MultiExitForSequenceClassification,
    texts: EncodedTexts,
    collate: PadBatch,
    *,
    precision: Precision,
) -> FrozenHiddenStates:
    """Runs the encoder once over all texts, in evaluation mode and without gradient.

    Args:
        model: whose exits' layers are kept; it is left in evaluation mode.
        texts: rows of token ids with labels.
        collate: rows to a padded batch.
        precision: in which the encoder runs and the states are kept.
    """
    model.eval()
    dtype = dtype_of(precision)
    order = texts.sorted_by_length()[1].tolist()
    rows: dict[int, Row] = {}
    for start in range(0, len(order), ROWS_AT_ONCE):
        chosen = order[start : start + ROWS_AT_ONCE]
        batch = {
            name: tensor.to(model.device)
            for name, tensor in collate([texts[index] for index in chosen]).items()
        }
        labels = batch.pop("labels")
        with torch.autocast(model.device.type, dtype=dtype, enabled=dtype != torch.float32):
            hidden, mask = model.hidden_states(**batch, layers=model.exit_layers)
        for index, states, label in zip(chosen, unpadded(hidden, mask), labels.cpu(), strict=True):
            rows[index] = {"hidden": states.to(dtype), "labels": label}
    cache = FrozenHiddenStates([rows[index] for index in range(len(rows))])
    logger.info(
        "hidden states of %d texts are kept in memory: %.0f MB", len(cache), cache.num_bytes / 1e6
    )
    return cache


def unpadded(
    hidden: Mapping[int, Float[Tensor, "n l d"]], attention_mask: Int[Tensor, "n l"]
) -> list[Float[Tensor, "m _ d"]]:
    """Each row's tokens alone, its layers stacked: padding is not kept."""
    stacked = torch.stack(tuple(hidden.values()), dim=1)  # [n, m, l, d]
    return [row[:, mask.bool()].cpu() for row, mask in zip(stacked, attention_mask, strict=True)]


def pad_hidden_states(rows: Sequence[Row]) -> dict[str, Tensor]:
    """A batch: `hidden` [m, n, l, d], `attention_mask` [n, l], `labels` [n]."""
    num_layers, _, width = rows[0]["hidden"].shape
    length = max(row["hidden"].shape[1] for row in rows)
    hidden = rows[0]["hidden"].new_zeros(num_layers, len(rows), length, width)
    attention_mask = torch.zeros(len(rows), length, dtype=torch.long)
    for index, row in enumerate(rows):
        tokens = row["hidden"].shape[1]
        hidden[:, index, :tokens] = row["hidden"]
        attention_mask[index, :tokens] = 1
    labels = torch.stack([row["labels"] for row in rows])
    return {"hidden": hidden, "attention_mask": attention_mask, "labels": labels}
