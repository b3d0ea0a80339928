"""The drop-in: any stock classifier, one line changed, an ordinary model at the end."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    GPT2Config,
    GPT2ForSequenceClassification,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    Trainer,
    TrainingArguments,
)

from exitwise.data import EncodedTexts, PadBatch
from exitwise.errors import UnsupportedError
from exitwise.gradients import GradientGate, gated_backward
from exitwise.losses import aligned_contrastive_loss
from exitwise.objectives import Objective
from exitwise.training import AlignedTrainer
from exitwise.training.classification_head import find_head

SIZES = {
    "vocab_size": 64,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": 66,
}
HEADS = {
    "bert": "classifier",
    "roberta": "classifier.out_proj",
    "distilbert": "classifier",
    "electra": "classifier.out_proj",
    "mpnet": "classifier.out_proj",
    "deberta-v2": "classifier",
    "albert": "classifier",
}


def stock(model_type: str = "bert", **changes: Any) -> PreTrainedModel:
    torch.manual_seed(5)
    extra = {"embedding_size": 8} if model_type in ("albert", "electra") else {}
    config = AutoConfig.for_model(model_type, **SIZES | extra | changes)
    return AutoModelForSequenceClassification.from_config(config)


def arguments(folder: Path, **changes: Any) -> TrainingArguments:
    settings = {
        "num_train_epochs": 2,
        "learning_rate": 1e-3,
        "save_strategy": "no",
        "disable_tqdm": True,
        "use_cpu": True,
        "seed": 7,
        "remove_unused_columns": False,
    }
    return TrainingArguments(output_dir=str(folder), **settings | changes)


@pytest.fixture
def train(
    tmp_path: Path,
    tiny_tokenizer: PreTrainedTokenizerFast,
    make_rows: Callable[..., EncodedTexts],
) -> Callable[..., dict[str, torch.Tensor]]:
    """Trains a fresh stock BERT; the state it ends with."""

    def run(
        trainer_class: type[Trainer], *, accumulation: int = 1, **settings: Any
    ) -> dict[str, torch.Tensor]:
        model = stock()
        trainer_class(
            model,
            arguments(tmp_path, gradient_accumulation_steps=accumulation),
            train_dataset=make_rows(),
            data_collator=PadBatch(tiny_tokenizer),
            **settings,
        ).train()
        return model.state_dict()

    return run


@pytest.mark.parametrize(("model_type", "name"), HEADS.items())
def test_the_head_is_found_by_what_it_gives(model_type: str, name: str) -> None:
    model = stock(model_type).train()
    assert find_head(model) is model.get_submodule(name)
    assert model.training


def test_logits_of_one_token_among_many_are_refused_by_name() -> None:
    model = GPT2ForSequenceClassification(
        GPT2Config(vocab_size=64, n_embd=16, n_layer=1, n_head=2, pad_token_id=0)
    )
    with pytest.raises(UnsupportedError, match="GPT2ForSequenceClassification are not one linear"):
        find_head(model)


def test_weight_0_is_the_stock_trainer_bit_for_bit(
    train: Callable[..., dict[str, torch.Tensor]],
) -> None:
    plain = train(Trainer)
    closed = GradientGate(max_angle=0.0, on_undefined="drop")
    for objective in (
        replace(Objective.acl(), weight=0.0),
        replace(Objective.acl(), gate=closed),
    ):
        found = train(AlignedTrainer, objective=objective)
        assert all(torch.equal(found[name], tensor) for name, tensor in plain.items())


def test_contrast_changes_what_is_learned(train: Callable[..., dict[str, torch.Tensor]]) -> None:
    plain, aligned = train(Trainer), train(AlignedTrainer)
    assert not torch.equal(plain["classifier.weight"], aligned["classifier.weight"])


@pytest.mark.field_case(45)
def test_micro_batches_make_the_batch_that_they_are_part_of(
    tmp_path: Path,
    tiny_tokenizer: PreTrainedTokenizerFast,
    make_rows: Callable[..., EncodedTexts],
) -> None:
    """The stock Trainer sums here: it takes the model's `**kwargs` for a loss by token count."""
    ends = []
    for accumulation in (1, 3):
        model = stock(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
        AlignedTrainer(
            model,
            arguments(
                tmp_path,
                num_train_epochs=1,
                optim="sgd",
                learning_rate=1.0,
                max_grad_norm=0.0,
                per_device_train_batch_size=24 // accumulation,
                gradient_accumulation_steps=accumulation,
            ),
            train_dataset=make_rows(),
            data_collator=PadBatch(tiny_tokenizer),
            objective=replace(Objective.acl(), weight=0.0),
        ).train()
        ends.append(model.state_dict())
    one, three = ends
    for name, tensor in one.items():
        torch.testing.assert_close(three[name], tensor, rtol=1e-6, atol=1e-6)


def test_the_step_is_the_gated_backward_of_head_input_and_rows(
    tmp_path: Path,
    tiny_tokenizer: PreTrainedTokenizerFast,
    make_rows: Callable[..., EncodedTexts],
) -> None:
    model = stock(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    trainer = AlignedTrainer(
        model,
        arguments(tmp_path),
        train_dataset=make_rows(),
        data_collator=PadBatch(tiny_tokenizer),
    )
    batch = next(iter(trainer.get_train_dataloader()))
    trainer.current_gradient_accumulation_steps = 1
    trainer.training_step(model, dict(batch))
    found = {name: parameter.grad.clone() for name, parameter in model.named_parameters()}
    model.zero_grad()
    outputs = model(**batch)
    pooled = model.bert(**{k: v for k, v in batch.items() if k != "labels"}).pooler_output
    contrast = aligned_contrastive_loss(pooled, model.classifier.weight, batch["labels"])
    gated_backward(outputs.loss, contrast, model.parameters(), weight=0.02, gate=GradientGate())
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(found[name], parameter.grad, rtol=1e-5, atol=1e-7)


def test_a_bias_gets_gradient_from_cross_entropy_only() -> None:
    model = stock()
    with torch.no_grad():
        model.classifier.bias.fill_(1.0)
    embedding = torch.randn(4, 16)
    loss = aligned_contrastive_loss(embedding, model.classifier.weight, torch.tensor([0, 1, 0, 1]))
    loss.backward()
    assert model.classifier.bias.grad is None


def test_an_objective_with_a_teacher_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="one exit and no teacher"):
        AlignedTrainer(stock(), arguments(tmp_path), objective=Objective.acl_cl())


def test_the_saved_model_loads_without_exitwise(
    tmp_path: Path,
    tiny_tokenizer: PreTrainedTokenizerFast,
    make_rows: Callable[..., EncodedTexts],
) -> None:
    trainer = AlignedTrainer(
        stock(),
        arguments(tmp_path, num_train_epochs=1),
        train_dataset=make_rows(),
        data_collator=PadBatch(tiny_tokenizer),
    )
    trainer.train()
    trainer.save_model(str(tmp_path / "model"))
    script = (
        "import sys\n"
        "from transformers import AutoModelForSequenceClassification\n"
        "model = AutoModelForSequenceClassification.from_pretrained(sys.argv[1])\n"
        "assert type(model).__name__ == 'BertForSequenceClassification'\n"
        "assert 'exitwise' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "model")], check=True)
