import pytest
import torch
from transformers import AutoConfig, AutoModel, PreTrainedConfig, PreTrainedTokenizerFast

from exitwise.data import encode_texts, length_limit

ROWS = 20  # of the table of positions
TABLES = {
    "bert": ROWS,
    "ernie": ROWS,
    "electra": ROWS,
    "distilbert": ROWS,
    "albert": ROWS,
    "roberta": ROWS - 2,
    "xlm-roberta": ROWS - 2,
    "camembert": ROWS - 2,
    "mpnet": ROWS - 2,
}


def tiny_config(model_type: str, **settings: object) -> PreTrainedConfig:
    """A configuration whose names fit every family; what one does not know it only keeps."""
    sizes = dict.fromkeys(["hidden_size", "dim", "embedding_size", "intermediate_size"], 8)
    sizes |= dict.fromkeys(["num_hidden_layers", "n_layers", "num_attention_heads", "n_heads"], 1)
    sizes |= {"hidden_dim": 8, "vocab_size": 50, "max_position_embeddings": ROWS}
    return AutoConfig.for_model(model_type, **(sizes | settings))


def run(config: PreTrainedConfig, num_tokens: int) -> None:
    AutoModel.from_config(config).eval()(input_ids=torch.full((1, num_tokens), 5))


@pytest.mark.field_case(58)
@pytest.mark.parametrize("model_type", TABLES)
def test_a_model_runs_at_the_limit_and_fails_one_token_above(
    model_type: str, tiny_tokenizer: PreTrainedTokenizerFast
) -> None:
    config = tiny_config(model_type)
    limit = length_limit(tiny_tokenizer, config)
    assert limit == TABLES[model_type]
    run(config, limit)
    with pytest.raises((IndexError, RuntimeError)):
        run(config, limit + 1)


@pytest.mark.field_case(58)
def test_the_offset_follows_the_padding_token(tiny_tokenizer: PreTrainedTokenizerFast) -> None:
    config = tiny_config("roberta", pad_token_id=4)
    assert length_limit(tiny_tokenizer, config) == ROWS - 5
    run(config, ROWS - 5)


@pytest.mark.field_case(58)
def test_texts_cut_at_the_limit_go_through_roberta(tiny_tokenizer: PreTrainedTokenizerFast) -> None:
    config = tiny_config("roberta")
    limit = length_limit(tiny_tokenizer, config)
    encoded = encode_texts(
        tiny_tokenizer, ["film " * 99], None, None, max_length=limit, input_names=[]
    )
    assert encoded.lengths == [limit]
    AutoModel.from_config(config).eval()(input_ids=torch.tensor([encoded[0]["input_ids"]]))


def test_the_tokenizer_may_know_a_lower_limit(tiny_tokenizer: PreTrainedTokenizerFast) -> None:
    tiny_tokenizer.model_max_length = 7
    assert length_limit(tiny_tokenizer, tiny_config("roberta")) == 7


@pytest.mark.parametrize(
    ("model_type", "settings"),
    [
        ("deberta-v2", {"position_biased_input": False, "relative_attention": True}),
        ("modernbert", {"pad_token_id": 0, "num_attention_heads": 2}),
    ],
)
def test_without_a_table_only_the_tokenizer_limits(
    model_type: str, settings: dict[str, object], tiny_tokenizer: PreTrainedTokenizerFast
) -> None:
    config = tiny_config(model_type, **settings)
    assert length_limit(tiny_tokenizer, config) == tiny_tokenizer.model_max_length == 64
    run(config, 64)


def test_deberta_with_a_table_ends_where_the_table_ends(
    tiny_tokenizer: PreTrainedTokenizerFast,
) -> None:
    config = tiny_config("deberta-v2", position_biased_input=True)
    assert length_limit(tiny_tokenizer, config) == ROWS
