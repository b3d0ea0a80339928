"""The frozen encoder's hidden states, computed once per text instead of once per epoch."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from pathlib import Path

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.utils.data import Dataset

from exitwise.data import EncodedTexts, PadBatch
from exitwise.modeling import MultiExitForSequenceClassification
from exitwise.training.cache_file import open_or_fill
from exitwise.training.settings import Precision, dtype_of

Row = dict[str, Tensor]
ROWS_AT_ONCE = 64


class FrozenHiddenStates(Dataset[Row]):
    """What frozen layers say of each text, unpadded; rows with `hidden` [m, l, d] and `labels`.

    The frozen encoder's output never changes, so that stage 2 reads it from here.

    Args:
        states: of all tokens of all texts, end to end.
        lengths: the number of tokens of each text.
        labels: of each text.
    """

    def __init__(
        self, states: Float[Tensor, "t m d"], lengths: Sequence[int], labels: Int[Tensor, " r"]
    ) -> None:
        self.states = states
        self.lengths = list(lengths)
        self.labels = labels
        self._bounds = list(pairwise(accumulate(lengths, initial=0)))

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: int) -> Row:
        start, stop = self._bounds[index]
        return {"hidden": self.states[start:stop].transpose(0, 1), "labels": self.labels[index]}


def cache_hidden_states(
    model: MultiExitForSequenceClassification,
    texts: EncodedTexts,
    collate: PadBatch,
    *,
    precision: Precision,
    file: Path | None = None,
) -> FrozenHiddenStates:
    """Runs the encoder once over all texts, in evaluation mode and without gradient.

    Args:
        model: whose exits' layers are kept; it is left in evaluation mode.
        texts: rows of token ids with labels.
        collate: rows to a padded batch.
        precision: in which the encoder runs and the states are kept.
        file: where the states lie, mapped into memory; in memory itself if `None`. A whole file
            of the right size is taken as it is: its name must tell what it holds.
    """
    dtype = dtype_of(precision)
    shape = states_shape(model, texts)

    def fill(states: Tensor) -> None:
        starts = list(accumulate(texts.lengths, initial=0))
        for index, row in hidden_states_of(model, texts, collate, dtype):
            states[starts[index] : starts[index + 1]] = row

    model.eval()
    if file is None:
        states = torch.empty(shape, dtype=dtype)
        fill(states)
    else:
        states = open_or_fill(file, shape, dtype, fill)
    return FrozenHiddenStates(states, texts.lengths, torch.as_tensor(texts.labels))


def states_shape(
    model: MultiExitForSequenceClassification, texts: EncodedTexts
) -> tuple[int, int, int]:
    """Tokens, layers with an exit, width."""
    return sum(texts.lengths), len(model.exit_layers), model.encoder.config.hidden_size


@torch.no_grad()
def hidden_states_of(
    model: MultiExitForSequenceClassification,
    texts: EncodedTexts,
    collate: PadBatch,
    dtype: torch.dtype,
) -> Iterator[tuple[int, Float[Tensor, "_ m d"]]]:
    """The index of each text and the states of its tokens, from long to short texts."""
    order = texts.sorted_by_length()[1].tolist()
    for start in range(0, len(order), ROWS_AT_ONCE):
        chosen = order[start : start + ROWS_AT_ONCE]
        batch = {
            name: tensor.to(model.device)
            for name, tensor in collate([texts[index] for index in chosen]).items()
            if name != "labels"
        }
        with torch.autocast(model.device.type, dtype=dtype, enabled=dtype != torch.float32):
            hidden, mask = model.hidden_states(**batch, layers=model.exit_layers)
        yield from zip(chosen, unpadded(hidden, mask), strict=True)


def unpadded(
    hidden: Mapping[int, Float[Tensor, "n l d"]], attention_mask: Int[Tensor, "n l"]
) -> Iterator[Float[Tensor, "_ m d"]]:
    """Each row's tokens alone, with all layers: padding is not kept."""
    stacked = torch.stack(tuple(hidden.values()), dim=2).cpu()  # [n, l, m, d]
    for row, mask in zip(stacked, attention_mask.bool().cpu(), strict=True):
        yield row[mask]


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
