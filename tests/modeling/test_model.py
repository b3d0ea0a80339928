"""What the model computes, on every type of encoder."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

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
    calls = [0, 0, 0]

    def count(number: int) -> Callable[..., None]:
        def hook(*_: object) -> None:
            calls[number] += 1

        return hook

    for number, module in enumerate(model.encoder.encoder.layer):
        module.register_forward_hook(count(number))
    whole = tiny_model().exit_outputs(**batch)
    outputs = model.exit_outputs(**batch, layers=[layer])
    assert calls == [1] * layer + [0] * (3 - layer)
    assert list(outputs) == [layer]
    assert outputs[layer].logits.shape == whole[layer].logits.shape


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
