"""How many tokens an encoder can read at once."""

from transformers import PreTrainedConfig, PreTrainedTokenizerBase

AFTER_PADDING = ("roberta", "xlm-roberta", "camembert")
"""Encoders whose first token has the position after that of padding, `pad_token_id + 1`."""


def length_limit(tokenizer: PreTrainedTokenizerBase, config: PreTrainedConfig) -> int:
    """The longest input in tokens, special tokens counted: of tokenizer and encoder the lesser.

    An encoder with a table of positions ends where the table ends. RoBERTa and its relatives use
    the first rows of the table for padding: 514 rows are 512 tokens. Encoders of relative or
    rotary positions (DeBERTa, ModernBERT) have no table, so that the tokenizer alone limits
    them; a tokenizer that names no limit gives a very large number.

    Args:
        tokenizer: with the encoder's `model_max_length`.
        config: of the encoder itself.
    """
    return min(int(tokenizer.model_max_length), position_limit(config) or 10**30)


def position_limit(config: PreTrainedConfig) -> int | None:
    """The number of tokens that have a row in the table of positions; None without a table."""
    has_table = config.model_type != "modernbert" and getattr(config, "position_biased_input", True)
    rows = getattr(config, "max_position_embeddings", None)
    if not has_table or rows is None:
        return None
    return int(rows) - first_position(config)


def first_position(config: PreTrainedConfig) -> int:
    """The row of the first token in the table of positions."""
    if config.model_type in AFTER_PADDING:
        return int(config.pad_token_id) + 1
    return 2 if config.model_type == "mpnet" else 0  # MPNet's padding is 1 whatever its config
