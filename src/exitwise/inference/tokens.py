"""From texts to padded token ids, with the tokenizers library alone."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import Encoding, Tokenizer

from exitwise.columns import by_name, check_as_many, check_texts
from exitwise.errors import ExitwiseError

logger = logging.getLogger(__name__)

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Encoded:
    """Texts as token ids, unpadded.

    Attributes:
        input_ids: one array of tokens a text.
        token_type_ids: 0 in a text and 1 in its pair, beside each token; `None` for an encoder
            that knows no types.
    """

    input_ids: list[Integers]
    token_type_ids: list[Integers] | None

    def __len__(self) -> int:
        return len(self.input_ids)

    @property
    def lengths(self) -> Integers:
        """The number of tokens of each text."""
        return np.array([len(ids) for ids in self.input_ids], np.int64)

    def select(self, rows: Sequence[int] | Integers) -> "Encoded":
        """Some texts, in the given order."""
        types = self.token_type_ids
        return replace(
            self,
            input_ids=[self.input_ids[row] for row in rows],
            token_type_ids=None if types is None else [types[row] for row in rows],
        )


class TextTokens:
    """Encodes texts as an encoder takes them, and pads batches on the right.

    It holds no state between calls: threads may share it.

    Args:
        tokenizer: of the tokenizers library; it is copied.
        max_length: tokens of a text, special ones counted; what is longer is cut, of a pair
            whichever part is longer at that moment.
        has_types: whether the encoder takes token types.
        pad_id: the token that pads.
        pad_type_id: its type.
        takes_pairs: whether the model answers pairs of texts; `None` if that is not known.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        max_length: int,
        has_types: bool,
        pad_id: int,
        pad_type_id: int = 0,
        takes_pairs: bool | None = None,
    ) -> None:
        self.max_length = max_length
        self.has_types = has_types
        self.pad_id = pad_id
        self.pad_type_id = pad_type_id
        self.takes_pairs = takes_pairs
        self.tokenizer = Tokenizer.from_str(tokenizer.to_str())
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(max_length, strategy="longest_first")

    def encode(
        self, texts: Sequence[Any], pairs: Sequence[Any] | None = None, *, first: int = 1
    ) -> Encoded:
        """Token ids of texts, or of pairs of texts; how many were cut is logged.

        Args:
            texts: some of what a caller has, beginning with the text of number `first`.
            pairs: the second text of each, if there are pairs.
            first: the number by which the first is named, should it be no text.

        Raises:
            ExitwiseError: something is no text, there are not as many pairs as texts, or pairs
                where the model was trained on single texts, or the reverse.
        """
        self._check_kind(pairs is not None)
        columns = by_name(texts, pairs)
        for what, column in columns.items():
            check_texts(column, what, first=first)
        check_as_many(columns)
        asked = list(texts) if pairs is None else list(zip(texts, pairs, strict=True))
        encodings: list[Encoding] = self.tokenizer.encode_batch_fast(asked)
        cut = sum(bool(each.overflowing) for each in encodings)
        if cut:
            message = "%d of %d texts are longer than %d tokens and were cut"
            logger.info(message, cut, len(texts), self.max_length)
        types = [np.array(each.type_ids, np.int64) for each in encodings]
        return Encoded(
            [np.array(each.ids, np.int64) for each in encodings], types if self.has_types else None
        )

    def _check_kind(self, are_pairs: bool) -> None:
        if self.takes_pairs is None or self.takes_pairs == are_pairs:
            return
        if self.takes_pairs:
            raise ExitwiseError(
                "the model was trained on pairs of texts and got single ones: give the second "
                "texts as pairs, or name their column with --pair-column"
            )
        raise ExitwiseError(
            "the model was trained on single texts and got pairs: give texts alone, or name their "
            "column with --text-column"
        )

    def padded(self, encoded: Encoded) -> dict[str, Integers]:
        """`input_ids`, `attention_mask` and, if it has them, `token_type_ids`, each [n, l]."""
        lengths = encoded.lengths
        mask = np.arange(lengths.max()) < lengths[:, None]
        batch = {
            "input_ids": _filled(encoded.input_ids, mask, self.pad_id),
            "attention_mask": mask.astype(np.int64),
        }
        if encoded.token_type_ids is not None:
            batch["token_type_ids"] = _filled(encoded.token_type_ids, mask, self.pad_type_id)
        return batch


def _filled(rows: list[Integers], mask: npt.NDArray[np.bool_], fill: int) -> Integers:
    table = np.full(mask.shape, fill, np.int64)
    table[mask] = np.concatenate(rows)
    return table
