"""What the model computes, on every type of encoder."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from exitwise.encoders import FAMILIES
from exitwise.modeling import MultiExitForSequenceClassification

Make = Callable[..., MultiExitForSequenceClassification]
Batch = dict[str, Tensor]


@pytest.mark.parametrize("model_type", FAMILIES)
def test_each_exit_reads_the_states_after_its_layer(
    model_type: str, tiny_model: Make, batch: Batch
) -> None:
    model = tiny_model(model_type)
    hidden, mask = model.hidden_states(**batch, layers=[1, 2, 3])
    outputs = model.exit_outputs(**batch)
    assert list(outputs) == [1, 2, 3]
    for layer, output in outputs.items():
        torch.testing.assert_close(output, model.exit(layer)(hidden[layer], mask))
    assert not torch.allclose(hidden[1], hidden[2])


@pytest.mark.parametrize("model_type", FAMILIES)
@pytest.mark.field_case(16)
def test_padding_on_either_side_gives_the_same_logits(
    model_type: str, tiny_model: Make, batch: Batch
) -> None:
    model = tiny_model(model_type)
    expected = model.exit_outputs(**batch)
    shifts = 9 - batch["attention_mask"].sum(dim=1)
    left = {
        name: torch.stack([row.roll(int(by)) for row, by in zip(tensor, shifts, strict=True)])
        for name, tensor in batch.items()
    }
    assert not torch.equal(left["attention_mask"], batch["attention_mask"])
    found = model.exit_outputs(**left)
    for layer in expected:
        torch.testing.assert_close(
            found[layer].logits, expected[layer].logits, rtol=1e-5, atol=1e-5
        )


@pytest.mark.parametrize("layer", [1, 2])
@pytest.mark.field_case(20)
def test_no_layer_runs_after_the_deepest_that_is_asked_for(
    layer: int, tiny_model: Make, batch: Batch
) -> None:
    model = tiny_model()
    whole = model.exit_outputs(**batch)
    calls = [0, 0, 0]

    def count(number: int) -> Callable[..., None]:
        def hook(*_: object) -> None:
            calls[number] += 1

        return hook

    for number, module in enumerate(model.encoder.encoder.layer):
        module.register_forward_hook(count(number))
    outputs = model.exit_outputs(**batch, layers=[layer])
    assert calls == [1] * layer + [0] * (3 - layer)
    assert list(outputs) == [layer]
    torch.testing.assert_close(outputs[layer], whole[layer])


@pytest.mark.parametrize("training", [False, True], ids=["eval", "train"])
@pytest.mark.field_case(26)
def test_a_batch_of_one_works(training: bool, tiny_model: Make, batch: Batch) -> None:
    model = tiny_model().train(training)
    one = {name: tensor[1:2] for name, tensor in batch.items()}
    output = model(**one, labels=torch.tensor([2]))
    output.loss.backward()
    assert output.logits.shape == (1, 3)
    assert output.loss.isfinite()
    if not training:
        torch.testing.assert_close(output.logits[0], model(**batch).logits[1])


@pytest.mark.parametrize("model_type", ["bert", "roberta", "distilbert", "mpnet"])
@pytest.mark.field_case(60)
def test_token_types_may_be_given_or_not_whatever_the_encoder_takes(
    model_type: str, tiny_model: Make, batch: Batch
) -> None:
    model = tiny_model(model_type)
    expected = model(**batch).logits
    zeros, ones = torch.zeros_like(batch["input_ids"]), torch.ones_like(batch["input_ids"])
    torch.testing.assert_close(model(**batch, token_type_ids=zeros).logits, expected)
    takes_them = model_type == "bert"
    found = model(**batch, token_type_ids=ones).logits
    assert torch.allclose(found, expected, atol=1e-5) != takes_them


def test_without_a_mask_every_token_counts(tiny_model: Make, batch: Batch) -> None:
    model, tokens = tiny_model(), batch["input_ids"]
    expected = model(input_ids=tokens, attention_mask=torch.ones_like(tokens)).logits
    torch.testing.assert_close(model(input_ids=tokens).logits, expected)


def test_forward_gives_the_last_exit_and_its_cross_entropy(tiny_model: Make, batch: Batch) -> None:
    model, labels = tiny_model(), torch.tensor([0, 2, 1, 0])
    output = model(**batch, labels=labels)
    logits = model.exit_outputs(**batch)[3].logits
    torch.testing.assert_close(output.logits, logits)
    torch.testing.assert_close(output.loss, cross_entropy(logits, labels))
    assert model(**batch).loss is None


@pytest.mark.field_case(45)
def test_the_trainer_is_told_that_the_loss_is_the_mean_of_its_own_batch(tiny_model: Make) -> None:
    assert tiny_model().accepts_loss_kwargs is False


def test_gradient_reaches_encoder_and_exits(tiny_model: Make, batch: Batch) -> None:
    model = tiny_model()
    outputs = model.exit_outputs(**batch, token_type_ids=torch.ones_like(batch["input_ids"]))
    torch.stack([output.logits.square().sum() for output in outputs.values()]).sum().backward()
    without = [
        name
        for name, parameter in model.named_parameters()
        if parameter.grad is None or not parameter.grad.any()
    ]
    # softmax ignores what all keys share: a key bias has no gradient but rounding
    assert [name for name in without if not name.endswith("key.bias")] == []


@pytest.mark.parametrize("layers", [[0], [4], [1, 9]])
def test_a_layer_without_an_exit_is_an_error_that_names_those_there_are(
    layers: list[int], tiny_model: Make, batch: Batch
) -> None:
    model = tiny_model(exit_layers=[1, 2])
    message = f"no exit at layer {layers[-1]}: this model has exits at 1 … 3"
    with pytest.raises(ValueError, match=message):
        model.exit_outputs(**batch, layers=layers)


def test_autocast_stays_near_full_precision(tiny_model: Make, batch: Batch) -> None:
    model = tiny_model()
    expected = model(**batch).logits
    with torch.autocast("cpu", torch.bfloat16):
        output = model(**batch, labels=torch.tensor([0, 2, 1, 0]))
    assert output.logits.dtype == torch.bfloat16
    assert output.loss.dtype == torch.float32
    torch.testing.assert_close(output.logits.float(), expected, rtol=0.1, atol=0.3)
