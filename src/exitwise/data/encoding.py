"""From texts to token ids, once, before training or evaluation."""

import copy
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from torch.utils.data import Dataset
from transformers import PreTrainedTokenizerBase

from exitwise.errors import UnsupportedError

logger = logging.getLogger(__name__)

T = TypeVar("T", bound=np.generic)
Row = dict[str, list[int] | int]
CHUNK = 2_000  # texts tokenised at once: bounds the memory that the tokenizer's own objects take


@dataclass(frozen=True, kw_only=True, eq=False)
class EncodedTexts(Dataset[Row]):
    """Texts as token ids: row i is `{"input_ids": …, "token_type_ids": …, "labels": …}`.

    Token types are there if encoder and tokenizer have them, labels if they were given. All rows
    lie end to end in one array, a tenth of the memory of lists.

    Attributes:
        input_ids: the tokens of all rows.
        token_type_ids: 0 in the first text and 1 in its pair, beside each token.
        starts: where each row begins in these arrays.
        stops: where it ends.
        labels: a number for each row; -1 is unlabelled.
        num_truncated: how many of the texts were cut when they were encoded.
    """

    input_ids: npt.NDArray[np.int32]
    token_type_ids: npt.NDArray[np.int8] | None
    starts: npt.NDArray[np.int64]
    stops: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int64] | None
    num_truncated: int

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, index: int) -> Row:
        tokens = slice(self.starts[index], self.stops[index])
        row: Row = {"input_ids": self.input_ids[tokens].tolist()}
        if self.token_type_ids is not None:
            row["token_type_ids"] = self.token_type_ids[tokens].tolist()
        if self.labels is not None:
            row["labels"] = int(self.labels[index])
        return row

    @property
    def lengths(self) -> list[int]:
        """The number of tokens of each row."""
        lengths: list[int] = (self.stops - self.starts).tolist()
        return lengths

    def select(self, indices: Sequence[int] | npt.NDArray[np.int64]) -> "EncodedTexts":
        """Some rows, in the given order; the tokens are shared."""
        rows = np.asarray(indices, dtype=np.int64)
        labels = None if self.labels is None else self.labels[rows]
        return replace(self, starts=self.starts[rows], stops=self.stops[rows], labels=labels)

    def sorted_by_length(self) -> tuple["EncodedTexts", npt.NDArray[np.int64]]:
        """The rows from long to short, for evaluation with little padding, and their order.

        Row i of the result is row `order[i]` of this. `restored[order] = answers` undoes it.
        Long rows come first: what does not fit into memory fails at once.
        """
        order = np.argsort(self.starts - self.stops, kind="stable")
        return self.select(order), order


def encode_texts(
    tokenizer: PreTrainedTokenizerBase,
    texts: Sequence[str],
    pairs: Sequence[str] | None,
    labels: Sequence[int] | None,
    *,
    max_length: int,
    input_names: Sequence[str],
) -> EncodedTexts:
    """Tokenises texts, or pairs of texts, and cuts what is too long.

    A pair loses tokens of whichever part is longer at that moment, so that both parts stay.
    The number of texts that were cut is logged.

    Args:
        tokenizer: of the encoder.
        texts: n texts.
        pairs: the second text of each, if the task has pairs.
        labels: a number for each text; -1 is unlabelled; None gives rows without labels.
        max_length: tokens of a row, special tokens counted; see `length_limit`.
        input_names: what the encoder makes use of, as `LayerwiseEncoder.input_names` says.

    Raises:
        UnsupportedError: the tokenizer is written in Python.
    """
    if not tokenizer.is_fast:
        raise UnsupportedError(
            f"{type(tokenizer).__name__} is written in Python; "
            "exitwise needs a tokenizer of the tokenizers library, with a tokenizer.json"
        )
    check_lengths(texts, pairs, labels)
    check_room(tokenizer, max_length, has_pairs=pairs is not None)
    chunks = list(tokenised(tokenizer, texts, pairs, max_length))
    num_truncated = sum(chunk.num_truncated for chunk in chunks)
    if num_truncated:
        message = "%d of %d texts are longer than %d tokens and were cut"
        logger.info(message, num_truncated, len(texts), max_length)
    has_types = {"token_type_ids"} <= {*input_names} & {*tokenizer.model_input_names}
    lengths = joined([chunk.lengths for chunk in chunks], np.int64)
    stops = lengths.cumsum()
    return EncodedTexts(
        input_ids=joined([chunk.input_ids for chunk in chunks], np.int32),
        token_type_ids=joined([chunk.type_ids for chunk in chunks], np.int8) if has_types else None,
        starts=stops - lengths,
        stops=stops,
        labels=None if labels is None else np.asarray(labels, np.int64),
        num_truncated=num_truncated,
    )


class Chunk(NamedTuple):
    """A few texts as token ids, end to end."""

    input_ids: npt.NDArray[np.int32]
    type_ids: npt.NDArray[np.int8]
    lengths: npt.NDArray[np.int64]
    num_truncated: int


def tokenised(
    tokenizer: PreTrainedTokenizerBase,
    texts: Sequence[str],
    pairs: Sequence[str] | None,
    max_length: int,
) -> Iterator[Chunk]:
    """The token ids of a few texts at a time; the tokenizer uses all cores."""
    tokenizer = copy.deepcopy(tokenizer)  # a call sets its truncation, which would be saved with it
    for start in range(0, len(texts), CHUNK):
        part = slice(start, start + CHUNK)
        encodings = tokenizer(
            list(texts[part]),
            None if pairs is None else list(pairs[part]),
            truncation="longest_first",
            max_length=max_length,
        ).encodings
        yield Chunk(
            joined([each.ids for each in encodings], np.int32),
            joined([each.type_ids for each in encodings], np.int8),
            np.array([len(each) for each in encodings], np.int64),
            sum(bool(each.overflowing) for each in encodings),
        )


def joined(parts: Sequence[npt.ArrayLike], dtype: type[T]) -> npt.NDArray[T]:
    """The parts end to end, also if there are none."""
    return np.concatenate([np.empty(0, dtype), *(np.asarray(each, dtype) for each in parts)])


def check_lengths(
    texts: Sequence[str], pairs: Sequence[str] | None, labels: Sequence[int] | None
) -> None:
    """Refuses columns of different lengths."""
    for name, column in (("pairs", pairs), ("labels", labels)):
        if column is not None and len(column) != len(texts):
            raise ValueError(f"{name} must be as many as texts, {len(texts)}, found {len(column)}")


def check_room(tokenizer: PreTrainedTokenizerBase, max_length: int, *, has_pairs: bool) -> None:
    """Refuses a length that leaves no token beside the special ones."""
    least = tokenizer.num_special_tokens_to_add(pair=has_pairs) + (2 if has_pairs else 1)
    if max_length < least:
        what = "a pair" if has_pairs else "a text"
        raise ValueError(f"max_length must be at least {least} for {what}, found {max_length}")
