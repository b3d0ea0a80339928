"""From rows of token ids to a batch."""

from collections.abc import Sequence

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from exitwise.data.encoding import Row


class PadBatch:
    """Pads rows to the longest of them, on the tokenizer's side; for use as a collator.

    Rows need `input_ids` [l]; `token_type_ids` [l] and `labels` are kept where rows have them.
    The batch holds `input_ids` and `attention_mask` [n, l], `token_type_ids` [n, l] and `labels`
    [n], all int64. Position ids are not made here: encoders derive them from the mask.

    Args:
        tokenizer: says which token pads, and on which side.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        if tokenizer.pad_token_id is None:
            raise ValueError(f"{type(tokenizer).__name__} has no padding token: set pad_token")
        self._fill = {
            "input_ids": int(tokenizer.pad_token_id),
            "token_type_ids": int(tokenizer.pad_token_type_id),
        }
        self._is_left = tokenizer.padding_side == "left"

    def __call__(self, rows: Sequence[Row]) -> dict[str, Tensor]:
        """The batch of these rows."""
        tokens = [row["input_ids"] for row in rows]
        ones: list[list[int] | int] = [[1] * len(each) for each in tokens if isinstance(each, list)]
        batch = {
            "input_ids": self._padded(tokens, self._fill["input_ids"]),
            "attention_mask": self._padded(ones, 0),
        }
        if "token_type_ids" in rows[0]:
            types = [row["token_type_ids"] for row in rows]
            batch["token_type_ids"] = self._padded(types, self._fill["token_type_ids"])
        if "labels" in rows[0]:
            batch["labels"] = torch.tensor([row["labels"] for row in rows], dtype=torch.long)
        return batch

    def _padded(self, rows: Sequence[list[int] | int], fill: int) -> Tensor:
        return torch.nn.utils.rnn.pad_sequence(
            [torch.tensor(row, dtype=torch.long) for row in rows],
            batch_first=True,
            padding_value=fill,
            padding_side="left" if self._is_left else "right",
        )
