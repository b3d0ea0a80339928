import pickle

import pytest
import torch
from torch.utils.data import DataLoader
from transformers import PreTrainedTokenizerFast

from exitwise.data import PadBatch, Row, encode_texts

ROWS: list[Row] = [
    {"input_ids": [2, 5, 6, 3], "token_type_ids": [0, 0, 1, 1], "labels": 1},
    {"input_ids": [2, 3], "token_type_ids": [0, 0], "labels": -1},
]


def test_rows_are_padded_to_the_longest(tiny_tokenizer: PreTrainedTokenizerFast) -> None:
    batch = PadBatch(tiny_tokenizer)(ROWS)
    assert batch["input_ids"].tolist() == [[2, 5, 6, 3], [2, 3, 0, 0]]
    assert batch["attention_mask"].tolist() == [[1, 1, 1, 1], [1, 1, 0, 0]]
    assert batch["token_type_ids"].tolist() == [[0, 0, 1, 1], [0, 0, 0, 0]]
    assert batch["labels"].tolist() == [1, -1]
    assert {tensor.dtype for tensor in batch.values()} == {torch.int64}


@pytest.mark.field_case(16)
def test_padding_goes_to_the_tokenizers_side(tiny_tokenizer: PreTrainedTokenizerFast) -> None:
    tiny_tokenizer.padding_side = "left"
    batch = PadBatch(tiny_tokenizer)(ROWS)
    assert batch["input_ids"].tolist() == [[2, 5, 6, 3], [0, 0, 2, 3]]
    assert batch["attention_mask"].tolist() == [[1, 1, 1, 1], [0, 0, 1, 1]]


def test_padding_uses_the_tokenizers_token(tiny_tokenizer: PreTrainedTokenizerFast) -> None:
    tiny_tokenizer.pad_token = "[UNK]"
    tiny_tokenizer._pad_token_type_id = 3
    batch = PadBatch(tiny_tokenizer)(ROWS)
    assert batch["input_ids"][1].tolist() == [2, 3, 1, 1]
    assert batch["token_type_ids"][1].tolist() == [0, 0, 3, 3]


def test_a_padding_token_inside_a_text_is_a_token(tiny_tokenizer: PreTrainedTokenizerFast) -> None:
    batch = PadBatch(tiny_tokenizer)([{"input_ids": [2, 0, 3]}, {"input_ids": [2, 5, 5, 3]}])
    assert batch["attention_mask"].tolist() == [[1, 1, 1, 0], [1, 1, 1, 1]]


@pytest.mark.field_case(60)
def test_a_batch_holds_what_the_rows_hold(tiny_tokenizer: PreTrainedTokenizerFast) -> None:
    batch = PadBatch(tiny_tokenizer)([{"input_ids": [2, 3]}])
    assert batch.keys() == {"input_ids", "attention_mask"}


@pytest.mark.field_case(26)
def test_a_batch_of_one_has_two_dimensions(tiny_tokenizer: PreTrainedTokenizerFast) -> None:
    batch = PadBatch(tiny_tokenizer)(ROWS[:1])
    assert batch["input_ids"].shape == (1, 4)
    assert batch["labels"].shape == (1,)


def test_a_tokenizer_without_padding_token_is_refused(
    tiny_tokenizer: PreTrainedTokenizerFast,
) -> None:
    tiny_tokenizer.pad_token = None
    with pytest.raises(ValueError, match="no padding token: set pad_token"):
        PadBatch(tiny_tokenizer)


def test_a_loader_pads_the_batches_of_encoded_texts(
    tiny_tokenizer: PreTrainedTokenizerFast,
) -> None:
    texts = ["film " * num_words for num_words in range(1, 8)]
    encoded = encode_texts(
        tiny_tokenizer, texts, None, [0] * 7, max_length=64, input_names=["token_type_ids"]
    )
    collate = pickle.loads(pickle.dumps(PadBatch(tiny_tokenizer)))  # as workers receive it
    widths = [
        batch["input_ids"].shape[1]
        for batch in DataLoader(encoded, batch_size=2, collate_fn=collate)
    ]
    assert widths == [4, 6, 8, 9]
