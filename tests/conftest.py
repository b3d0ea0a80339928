"""Shared fixtures: seeds, reference values and tiny models, all made here, none downloaded."""

import json
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedTokenizerFast

# The same examples in every run, and no clock: a busy machine fails no test.
hypothesis.settings.register_profile("seeded", derandomize=True, deadline=None)
hypothesis.settings.load_profile("seeded")


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


@pytest.fixture(scope="session")
def reference_values() -> dict[str, Any]:
    """Expected values, made by plain loops in float64 and confirmed by a separate script."""
    return json.loads((Path(__file__).parent / "data" / "reference_values.json").read_text())


WORDS = (
    "the a of to and in is it this that film movie plot story actor was not very good bad great "
    "dull warm cold long short ends begins well never ##s ##ed ##ing ##ly , . ? !"
)


@pytest.fixture
def tiny_tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer like BERT's, of a few words, at most 64 tokens, pads on the right."""
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS.split()]
    backend = Tokenizer(WordPiece({token: i for i, token in enumerate(tokens)}, unk_token="[UNK]"))
    backend.normalizer = BertNormalizer(lowercase=True)
    backend.pre_tokenizer = BertPreTokenizer()
    backend.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=64,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )
