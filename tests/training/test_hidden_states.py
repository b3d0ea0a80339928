"""The frozen cache: the same numbers as the encoder itself, computed once."""

from collections.abc import Callable

import pytest
import torch
from transformers import PreTrainedTokenizerFast

from exitwise.data import EncodedTexts, PadBatch
from exitwise.modeling import MultiExitForSequenceClassification
from exitwise.regimes import ExitsRegime
from exitwise.training import MultiExitTrainer, cache_hidden_states, pad_hidden_states

MakeModel = Callable[..., MultiExitForSequenceClassification]


@pytest.fixture
def texts(make_rows: Callable[..., EncodedTexts]) -> EncodedTexts:
    return make_rows(11)


def test_a_batch_from_the_cache_holds_what_the_encoder_gives(
    make_model: MakeModel, texts: EncodedTexts, tiny_tokenizer: PreTrainedTokenizerFast
) -> None:
    model, pad = make_model(dropout=0.1), PadBatch(tiny_tokenizer)
    cache = cache_hidden_states(model, texts, pad, precision="fp32")
    rows = [3, 0, 10]
    batch = pad_hidden_states([cache[row] for row in rows])
    fresh = pad([texts[row] for row in rows])
    assert torch.equal(batch["attention_mask"], fresh["attention_mask"])
    assert torch.equal(batch["labels"], fresh.pop("labels"))
    hidden, mask = model.hidden_states(**fresh, layers=model.exit_layers)
    for cached, direct in zip(batch["hidden"], hidden.values(), strict=True):
        torch.testing.assert_close(cached[mask.bool()], direct[mask.bool()])
        assert not cached[~mask.bool()].any()


def test_the_encoder_sees_each_text_once(
    make_model: MakeModel, texts: EncodedTexts, tiny_tokenizer: PreTrainedTokenizerFast
) -> None:
    model = make_model()
    seen: list[int] = []
    model.encoder.embeddings.register_forward_hook(lambda *call: seen.append(len(call[2])))
    cache_hidden_states(model, texts, PadBatch(tiny_tokenizer), precision="fp32")
    assert sum(seen) == len(texts)


def test_no_padding_is_kept(
    make_model: MakeModel, texts: EncodedTexts, tiny_tokenizer: PreTrainedTokenizerFast
) -> None:
    model = make_model()
    cache = cache_hidden_states(model, texts, PadBatch(tiny_tokenizer), precision="fp32")
    assert cache.lengths == texts.lengths
    assert cache.states.nbytes == 4 * 3 * 16 * sum(texts.lengths)  # bytes, layers, width, tokens


def test_half_precision_takes_half_the_memory(
    make_model: MakeModel, texts: EncodedTexts, tiny_tokenizer: PreTrainedTokenizerFast
) -> None:
    model, pad = make_model(), PadBatch(tiny_tokenizer)
    whole, half = (
        cache_hidden_states(model, texts, pad, precision=precision)
        for precision in ("fp32", "bf16")
    )
    assert half.states.nbytes * 2 == whole.states.nbytes
    torch.testing.assert_close(half[0]["hidden"].float(), whole[0]["hidden"], rtol=0.1, atol=0.1)


def test_training_from_the_cache_and_from_the_texts_ends_alike(
    make_model: MakeModel,
    texts: EncodedTexts,
    tiny_tokenizer: PreTrainedTokenizerFast,
    make_trainer: Callable[..., MultiExitTrainer],
) -> None:
    (stage,) = ExitsRegime(epochs=2, learning_rate=1e-3).stages(3)
    from_texts, from_cache = make_model(), make_model()
    make_trainer(from_texts, stage, rows=texts).train()
    pad = PadBatch(tiny_tokenizer)
    cache = cache_hidden_states(from_cache, texts, pad, precision="fp32")
    trainer = make_trainer(from_cache, stage, rows=cache)
    trainer.data_collator = pad_hidden_states
    trainer.train()
    for name, tensor in from_texts.state_dict().items():
        if not name.endswith("key.bias"):  # its true gradient is 0; AdamW enlarges the rounding
            torch.testing.assert_close(from_cache.state_dict()[name], tensor, rtol=1e-5, atol=1e-6)
