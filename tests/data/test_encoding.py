import logging
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import CTRLTokenizer, PreTrainedTokenizerFast

from exitwise.data import EncodedTexts, encode_texts
from exitwise.data import encoding as encoding_module
from exitwise.errors import UnsupportedError

CLS, SEP = 2, 3
NAMES = ("input_ids", "attention_mask", "token_type_ids")


def encode(
    tokenizer: PreTrainedTokenizerFast,
    texts: list[str],
    pairs: list[str] | None = None,
    *,
    max_length: int = 64,
    input_names: tuple[str, ...] = NAMES,
) -> EncodedTexts:
    return encode_texts(
        tokenizer,
        texts,
        pairs,
        list(range(len(texts))),
        max_length=max_length,
        input_names=input_names,
    )


def test_a_row_is_what_the_tokenizer_says(tiny_tokenizer: PreTrainedTokenizerFast) -> None:
    texts, pairs = ["good film.", "a dull story"], ["it ends well", "never!"]
    encoded = encode(tiny_tokenizer, texts, pairs)
    assert len(encoded) == 2
    for i, row in enumerate(encoded):
        expected = tiny_tokenizer(texts[i], pairs[i])
        assert row["input_ids"] == expected["input_ids"]
        assert row["token_type_ids"] == expected["token_type_ids"]
        assert row["labels"] == i
        assert encoded.lengths[i] == len(expected["input_ids"])


def test_texts_over_several_chunks_keep_their_order(
    tiny_tokenizer: PreTrainedTokenizerFast, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["film", "film film film", "", "good", "a b c d"]
    whole = list(encode(tiny_tokenizer, texts))
    monkeypatch.setattr(encoding_module, "CHUNK", 2)
    assert list(encode(tiny_tokenizer, texts)) == whole


def test_no_texts_give_no_rows(tiny_tokenizer: PreTrainedTokenizerFast) -> None:
    encoded = encode(tiny_tokenizer, [])
    assert len(encoded) == 0
    assert encoded.lengths == []


def test_without_labels_rows_have_none(tiny_tokenizer: PreTrainedTokenizerFast) -> None:
    encoded = encode_texts(
        tiny_tokenizer, ["film"], None, None, max_length=9, input_names=["input_ids"]
    )
    assert encoded[0].keys() == {"input_ids"}


@pytest.mark.field_case(60)
def test_token_types_need_both_encoder_and_tokenizer(
    tiny_tokenizer: PreTrainedTokenizerFast,
) -> None:
    assert "token_type_ids" in encode(tiny_tokenizer, ["film"])[0]
    without = encode(tiny_tokenizer, ["film"], input_names=("input_ids", "attention_mask"))
    assert "token_type_ids" not in without[0]
    tiny_tokenizer.model_input_names = ["input_ids", "attention_mask"]
    assert "token_type_ids" not in encode(tiny_tokenizer, ["film"])[0]


@pytest.mark.field_case(58)
def test_long_texts_are_cut_counted_and_reported(
    tiny_tokenizer: PreTrainedTokenizerFast, caplog: pytest.LogCaptureFixture
) -> None:
    texts = ["film " * 10, "film " * 11, "film " * 500, "film"]
    with caplog.at_level(logging.INFO, logger="exitwise"):
        encoded = encode(tiny_tokenizer, texts, max_length=12)
    assert encoded.lengths == [12, 12, 12, 3]
    assert encoded.num_truncated == 2
    assert caplog.messages == ["2 of 4 texts are longer than 12 tokens and were cut"]
    for row in encoded:
        assert row["input_ids"][0] == CLS
        assert row["input_ids"][-1] == SEP


def test_nothing_is_reported_when_all_texts_fit(
    tiny_tokenizer: PreTrainedTokenizerFast, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="exitwise"):
        assert encode(tiny_tokenizer, ["film"] * 3).num_truncated == 0
    assert caplog.messages == []


@pytest.mark.field_case(58)
@pytest.mark.parametrize(("first", "second"), [(99, 3), (3, 99), (99, 99), (1, 99), (99, 1)])
def test_both_parts_of_a_long_pair_stay(
    first: int, second: int, tiny_tokenizer: PreTrainedTokenizerFast
) -> None:
    encoded = encode(tiny_tokenizer, ["film " * first], ["good " * second], max_length=13)
    tokens, types = encoded[0]["input_ids"], encoded[0]["token_type_ids"]
    film, good = tiny_tokenizer.convert_tokens_to_ids(["film", "good"])
    assert encoded.num_truncated == 1
    assert len(tokens) == len(types) == 13
    assert tokens.count(film) >= min(first, 5)  # a short part is kept whole
    assert tokens.count(good) >= min(second, 5)
    assert sum(types) == tokens.count(good) + 1  # and its [SEP]


def test_the_tokenizers_own_padding_and_limit_are_not_used(
    tiny_tokenizer: PreTrainedTokenizerFast,
) -> None:
    tiny_tokenizer.backend_tokenizer.enable_padding(length=40)
    tiny_tokenizer.backend_tokenizer.enable_truncation(4)
    assert encode(tiny_tokenizer, ["good bad good bad"]).lengths == [6]


def test_left_truncation_keeps_the_end(tiny_tokenizer: PreTrainedTokenizerFast) -> None:
    tiny_tokenizer.truncation_side = "left"
    encoded = encode(tiny_tokenizer, ["bad bad bad good"], max_length=3)
    good = tiny_tokenizer.convert_tokens_to_ids("good")
    assert encoded[0]["input_ids"] == [CLS, good, SEP]


@given(st.lists(st.integers(0, 30), max_size=12))
def test_sorting_by_length_can_be_undone(num_words: list[int]) -> None:
    stops = np.cumsum(num_words, dtype=np.int64)
    encoded = EncodedTexts(
        input_ids=np.arange(sum(num_words), dtype=np.int32),
        token_type_ids=None,
        starts=stops - np.asarray(num_words, np.int64),
        stops=stops,
        labels=np.arange(len(num_words)),
        num_truncated=0,
    )
    by_length, order = encoded.sorted_by_length()
    assert by_length.lengths == sorted(num_words, reverse=True)
    restored = np.empty(len(order), object)
    restored[order] = list(by_length)
    assert list(restored) == list(encoded)


def test_rows_can_be_selected_and_repeated(tiny_tokenizer: PreTrainedTokenizerFast) -> None:
    encoded = encode(tiny_tokenizer, ["film", "good film", "a dull film"])
    assert list(encoded.select([2, 0, 2])) == [encoded[2], encoded[0], encoded[2]]


def test_encoding_leaves_the_tokenizer_as_it_was(tiny_tokenizer: PreTrainedTokenizerFast) -> None:
    before = tiny_tokenizer.backend_tokenizer.to_str()
    encode(tiny_tokenizer, ["film " * 30], max_length=8)
    assert tiny_tokenizer.backend_tokenizer.to_str() == before


def test_a_tokenizer_written_in_python_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text('{"<unk>": 0}')
    (tmp_path / "merges.txt").write_text("#version\n\n")
    tokenizer = CTRLTokenizer(str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt"))
    with pytest.raises(
        UnsupportedError, match=r"CTRLTokenizer is written in Python.*tokenizer\.json"
    ):
        encode_texts(tokenizer, ["film"], None, None, max_length=9, input_names=NAMES)


@pytest.mark.parametrize(
    ("pairs", "labels", "message"),
    [
        (["a"], [0, 1], "pairs must be as many as texts, 2, found 1"),
        (None, [0, 1, 1], "labels must be as many as texts, 2, found 3"),
    ],
)
def test_columns_of_different_lengths_are_refused(
    pairs: list[str] | None,
    labels: list[int],
    message: str,
    tiny_tokenizer: PreTrainedTokenizerFast,
) -> None:
    with pytest.raises(ValueError, match=message):
        encode_texts(tiny_tokenizer, ["a", "b"], pairs, labels, max_length=9, input_names=NAMES)


@pytest.mark.parametrize(("pairs", "least"), [(None, 3), (["good"], 5)])
def test_a_length_without_room_for_words_is_refused(
    pairs: list[str] | None, least: int, tiny_tokenizer: PreTrainedTokenizerFast
) -> None:
    assert encode(tiny_tokenizer, ["film film"], pairs, max_length=least).lengths == [least]
    with pytest.raises(ValueError, match=f"at least {least}"):
        encode(tiny_tokenizer, ["film film"], pairs, max_length=least - 1)
