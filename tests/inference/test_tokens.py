"""Texts as token ids: what transformers' own tokenizer gives, and clear words for what is none."""

import numpy as np
import pytest
from transformers import PreTrainedTokenizerFast

from exitwise.data import PadBatch, encode_texts
from exitwise.errors import ExitwiseError
from exitwise.inference.tokens import TextTokens
from exitwise.inference.torch_engine import text_tokens

TEXTS = ["good", "", "the film was very good and not long", "never " * 30]
NAMES = ("input_ids", "attention_mask", "token_type_ids")


@pytest.fixture
def tokens(tiny_tokenizer: PreTrainedTokenizerFast) -> TextTokens:
    return text_tokens(tiny_tokenizer, max_length=12, input_names=NAMES)


@pytest.mark.parametrize("pairs", [None, TEXTS[::-1]], ids=["texts", "pairs"])
def test_a_batch_is_that_of_training(
    tokens: TextTokens, tiny_tokenizer: PreTrainedTokenizerFast, pairs: list[str] | None
) -> None:
    rows = encode_texts(tiny_tokenizer, TEXTS, pairs, None, max_length=12, input_names=NAMES)
    expected = PadBatch(tiny_tokenizer)([rows[i] for i in range(len(rows))])
    found = tokens.padded(tokens.encode(TEXTS, pairs))
    assert found.keys() == expected.keys()
    for name, table in expected.items():
        np.testing.assert_array_equal(found[name], table)


def test_types_are_left_out_where_the_encoder_knows_none(
    tiny_tokenizer: PreTrainedTokenizerFast,
) -> None:
    tokens = text_tokens(tiny_tokenizer, max_length=12, input_names=NAMES[:2])
    assert set(tokens.padded(tokens.encode(TEXTS))) == {"input_ids", "attention_mask"}


def test_selected_rows_are_in_the_order_asked(tokens: TextTokens) -> None:
    encoded = tokens.encode(TEXTS)
    chosen = encoded.select([2, 0])
    np.testing.assert_array_equal(chosen.lengths, encoded.lengths[[2, 0]])
    np.testing.assert_array_equal(chosen.input_ids[1], encoded.input_ids[0])


@pytest.mark.parametrize(
    ("texts", "pairs", "message"),
    [
        ("one text", None, r"a list of texts, found a single one: \['one text'\]"),
        (["good", None], None, "text 2 must be a string, found None"),
        (["good", 3.5], None, r"text 2 must be a string, found 3\.5"),
        (["good"], ["bad", "dull"], "must be as many, found 1 of text, 2 of pair"),
        (["good"], [b"bad"], "pair 1 must be a string"),
    ],
)
def test_what_is_no_text_is_named(
    tokens: TextTokens, texts: object, pairs: object, message: str
) -> None:
    with pytest.raises(ExitwiseError, match=message):
        tokens.encode(texts, pairs)


@pytest.mark.parametrize(
    ("takes_pairs", "pairs", "message"),
    [
        (True, None, "trained on pairs of texts and got single ones: give the second"),
        (False, ["dull"], "trained on single texts and got pairs: give texts alone"),
    ],
)
def test_pairs_and_single_texts_are_not_taken_for_each_other(
    takes_pairs: bool,
    pairs: list[str] | None,
    message: str,
    tiny_tokenizer: PreTrainedTokenizerFast,
) -> None:
    tokens = text_tokens(tiny_tokenizer, max_length=12, input_names=NAMES, takes_pairs=takes_pairs)
    with pytest.raises(ExitwiseError, match=message):
        tokens.encode(["good"], pairs)
    assert len(tokens.encode(["good"], ["dull"] if takes_pairs else None)) == 1
