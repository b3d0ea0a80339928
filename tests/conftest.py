"""Shared fixtures: seeds, reference values and tiny models, all made here, none downloaded."""

import gc
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing
from transformers import AutoConfig, AutoModel, PreTrainedModel, PreTrainedTokenizerFast

from exitwise.data import TASKS, EncodedTexts, encode_texts

# The same examples in every run, and no clock: a busy machine fails no test.
hypothesis.settings.register_profile("seeded", derandomize=True, deadline=None)
hypothesis.settings.load_profile("seeded")


def pytest_collection_finish() -> None:
    """Libraries stay: a collection of garbage, of which each training makes one, skips them."""
    gc.collect()
    gc.freeze()


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


TINY_ENCODER = {
    "vocab_size": 64,
    "hidden_size": 16,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": 66,  # 64 tokens where padding has positions too
}
TINY_BY_TYPE: dict[str, dict[str, Any]] = {
    "albert": {"embedding_size": 8},
    "deberta-v2": {  # as in v3
        "relative_attention": True,
        "position_buckets": 4,
        "norm_rel_ebd": "layer_norm",
        "share_att_key": True,
        "pos_att_type": "p2c|c2p",
        "position_biased_input": False,
    },
    "distilbert": {"hidden_dim": 24},
    "electra": {"embedding_size": 8},
    "modernbert": {
        "local_attention": 4,
        **dict.fromkeys(("pad_token_id", "cls_token_id", "sep_token_id"), 0),
        **dict.fromkeys(("bos_token_id", "eos_token_id"), 0),
    },
    **{kind: {"type_vocab_size": 1} for kind in ("roberta", "xlm-roberta", "camembert")},
}


@pytest.fixture(scope="session")
def tiny_encoder() -> Callable[..., PreTrainedModel]:
    """A factory: type of model and changes of its configuration → a tiny encoder in eval mode.

    Its weights are spread wide, biases and norms too, so that leaving out any part of a layer
    shows in the numbers. The same arguments give the same weights. Dropout is that of the type.
    """

    def make(model_type: str, **changes: Any) -> PreTrainedModel:
        settings = TINY_ENCODER | TINY_BY_TYPE.get(model_type, {}) | changes
        with torch.random.fork_rng(), torch.no_grad():
            torch.manual_seed(0)
            model = AutoModel.from_config(AutoConfig.for_model(model_type, **settings))
            for parameter in model.parameters():
                parameter.add_(0.2 * torch.randn_like(parameter))
        return model.eval()

    return make


GLUE_TEXTS = (
    ("the film was not good", "a very bad plot", "dull and long", "it never ends"),
    ("the story was great", "a good film", "great movie !", "this plot is very good"),
    ("a long story", "the plot is long", "it begins", "a cold movie"),
)


@pytest.fixture(scope="session")
def tiny_glue(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every task as a few rows, its labels by turns."""
    folder = tmp_path_factory.mktemp("glue")
    for task in TASKS.values():
        (folder / task.folder).mkdir()
        for split in ("train", *task.validation_splits):
            rows = 24 if split == "train" else 12
            labels = [row % len(task.label_names) for row in range(rows)]
            texts = [GLUE_TEXTS[label][row % 4] for row, label in enumerate(labels)]
            columns = (
                {"sentence": texts}
                if task.pair_column is None
                else {"sentence1": texts, "sentence2": texts[::-1]}
            )
            table = pa.table({**columns, "label": labels, "idx": list(range(rows))})
            pq.write_table(table, folder / task.folder / f"{split}.parquet")
    return folder


@pytest.fixture
def save_encoder(
    tmp_path: Path,
    tiny_encoder: Callable[..., PreTrainedModel],
    tiny_tokenizer: PreTrainedTokenizerFast,
) -> Callable[..., str]:
    """A factory: what `tiny_encoder` takes → a folder with that encoder and its tokenizer."""

    def save(model_type: str = "bert", **changes: Any) -> str:
        folder = tmp_path / f"{model_type}-encoder"
        tiny_encoder(model_type, **changes).save_pretrained(folder)
        tiny_tokenizer.save_pretrained(folder)
        return str(folder)

    return save


@pytest.fixture
def tiny_path(save_encoder: Callable[..., str]) -> str:
    """A folder with an encoder of six layers, as many as the overlays say."""
    return save_encoder(num_hidden_layers=6)


LABELLED_TEXTS = (
    ("the film was not good", 0),
    ("a very bad plot", 0),
    ("dull and long and cold", 0),
    ("it never begins", 0),
    ("the story was great , the actor was good", 1),
    ("a good film", 1),
    ("great movie !", 1),
    ("this plot is very good", 1),
)


@pytest.fixture
def make_rows(tiny_tokenizer: PreTrainedTokenizerFast) -> Callable[..., EncodedTexts]:
    """A factory: so many rows of two classes, told apart by a few words.

    The labels of the rows in `flipped` are turned round.
    """

    def make(num_rows: int = 24, *, flipped: tuple[int, ...] = ()) -> EncodedTexts:
        rows = [LABELLED_TEXTS[index % len(LABELLED_TEXTS)] for index in range(num_rows)]
        labels = [label ^ (index in flipped) for index, (_, label) in enumerate(rows)]
        return encode_texts(
            tiny_tokenizer,
            [text for text, _ in rows],
            None,
            labels,
            max_length=16,
            input_names=("input_ids", "attention_mask", "token_type_ids"),
        )

    return make
