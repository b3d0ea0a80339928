"""What must hold for every exit that is registered, also for those still to come."""

import json
import math

import pytest
import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import pad
from torch.utils.flop_counter import FlopCounterMode

from exitwise.exits import EXITS, Exit, build_exit, exit_config, exit_settings

WIDTH, LABELS = 24, 3


@pytest.fixture(params=list(EXITS))
def head(request: pytest.FixtureRequest) -> Exit:
    head = build_exit(
        EXITS[request.param].config_class(), encoder_width=WIDTH, num_labels=LABELS
    ).eval()
    for parameter in head.parameters():  # far from the start: small weights hide mistakes
        nn.init.normal_(parameter, std=0.5)
    return head


@pytest.fixture
def hidden() -> Tensor:
    return torch.randn(4, 7, WIDTH)


@pytest.fixture
def mask() -> Tensor:
    return torch.ones(4, 7, dtype=torch.long)


@pytest.mark.parametrize("sides", [(3, 0), (0, 3), (2, 1)], ids=["left", "right", "both"])
@pytest.mark.parametrize("dtype", [torch.long, torch.bool])
@pytest.mark.field_case(16)
def test_padding_never_changes_the_result(
    head: Exit, hidden: Tensor, mask: Tensor, sides: tuple[int, int], dtype: torch.dtype
) -> None:
    head, hidden = head.double(), hidden.double()  # some processors round float32 by the length
    expected = head(hidden, mask)
    found = head(pad(hidden, (0, 0, *sides), value=100.0), pad(mask, sides).to(dtype))
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)


def test_the_first_token_matters(head: Exit, hidden: Tensor, mask: Tensor) -> None:
    before = head(hidden, mask).embedding
    hidden[:, 0] += 1.0
    assert not torch.allclose(head(hidden, mask).embedding, before)


@pytest.mark.parametrize("training", [False, True], ids=["eval", "train"])
@pytest.mark.field_case(26)
def test_one_row_alone_is_that_row_of_a_batch(
    head: Exit, hidden: Tensor, mask: Tensor, training: bool
) -> None:
    mask[2, 4:] = 0
    head.train(training)
    alone = head(hidden[2:3], mask[2:3])
    assert alone.logits.shape == (1, LABELS)
    if not training:
        torch.testing.assert_close(alone.logits[0], head(hidden, mask).logits[2])
        torch.testing.assert_close(alone.embedding[0], head(hidden, mask).embedding[2])


def test_an_empty_batch_gives_empty_outputs(head: Exit, hidden: Tensor, mask: Tensor) -> None:
    assert head(hidden[:0], mask[:0]).logits.shape == (0, LABELS)


def test_a_row_of_padding_alone_is_finite_with_finite_gradient(
    head: Exit, hidden: Tensor, mask: Tensor
) -> None:
    mask[1] = 0
    output = head(hidden.requires_grad_(), mask)
    output.logits.square().sum().backward()
    assert output.logits.isfinite().all()
    assert hidden.grad is not None
    assert hidden.grad.isfinite().all()


def test_the_output_has_the_declared_shapes(head: Exit, hidden: Tensor, mask: Tensor) -> None:
    width = head.config.embedding_width(WIDTH)
    output = head(hidden, mask)
    assert output.logits.shape == (4, LABELS)
    assert output.embedding.shape == (4, width)
    assert output.label_embeddings.shape == (LABELS, width)


def test_logits_are_the_embedding_times_the_label_embeddings_and_a_bias(
    head: Exit, hidden: Tensor, mask: Tensor
) -> None:
    logits, embedding, label_embeddings = head(hidden, mask)
    bias = 0.0 if head.classifier.bias is None else head.classifier.bias
    torch.testing.assert_close(logits, embedding @ label_embeddings.T + bias)


def test_label_embeddings_are_the_classifier_weight_itself(
    head: Exit, hidden: Tensor, mask: Tensor
) -> None:
    label_embeddings = head(hidden, mask).label_embeddings
    assert label_embeddings.data_ptr() == head.classifier.weight.data_ptr()
    label_embeddings.square().sum().backward()
    torch.testing.assert_close(head.classifier.weight.grad, 2 * head.classifier.weight.detach())


def test_gradient_reaches_every_parameter(head: Exit, hidden: Tensor, mask: Tensor) -> None:
    head(hidden, mask).logits.square().sum().backward()
    reached = {
        name: parameter.grad is not None and bool(parameter.grad.ne(0).any())
        for name, parameter in head.named_parameters()
    }
    # softmax ignores what all keys share: the key bias has no gradient but rounding
    reached.pop("key.bias", None)
    assert all(reached.values()), reached


def test_dropout_is_on_in_training_and_off_in_evaluation(
    head: Exit, hidden: Tensor, mask: Tensor
) -> None:
    assert torch.equal(head(hidden, mask).logits, head(hidden, mask).logits)
    head.train()
    assert not torch.equal(head(hidden, mask).logits, head(hidden, mask).logits)


@pytest.mark.parametrize("kind", EXITS)
@pytest.mark.parametrize("choice", ["before_dropout", "after_dropout"])
def test_the_embedding_is_taken_before_or_after_the_dropout_of_the_classifier(
    kind: str, choice: str, hidden: Tensor, mask: Tensor
) -> None:
    config = exit_config({"kind": kind, "dropout": 0.5, "bias": False, "embedding": choice})
    head = build_exit(config, encoder_width=WIDTH, num_labels=LABELS).train()
    logits, embedding, label_embeddings = head(hidden, mask)
    is_what_is_classified = torch.allclose(logits, embedding @ label_embeddings.T, atol=1e-6)
    assert is_what_is_classified == (choice == "after_dropout")


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast_stays_near_full_precision(
    head: Exit, hidden: Tensor, mask: Tensor, dtype: torch.dtype
) -> None:
    mask[0, :3] = 0
    expected = head(hidden, mask).logits
    with torch.autocast("cpu", dtype):
        found = head(hidden, mask).logits
    assert found.dtype == dtype
    torch.testing.assert_close(found.float(), expected, rtol=0.1, atol=0.2)
    found.float().square().sum().backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in head.parameters())


@pytest.mark.parametrize("length", [1, 16, 77])
def test_macs_are_those_that_torch_counts(head: Exit, length: int) -> None:
    # the counter does not know the fused attention of the CPU
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        head(torch.randn(1, length, WIDTH), torch.ones(1, length, dtype=torch.long))
    assert head.macs(length) == counter.get_total_flops() // 2


@pytest.mark.parametrize("kind", EXITS)
def test_weights_start_at_a_deviation_of_two_hundredths_and_biases_at_zero(kind: str) -> None:
    head = build_exit(EXITS[kind].config_class(), encoder_width=512, num_labels=200)
    for name, parameter in head.named_parameters():
        if name.endswith("bias"):
            assert not parameter.any()
        else:
            assert math.isclose(parameter.std().item(), 0.02, rel_tol=0.05), name
            assert abs(parameter.mean().item()) < 1e-3


@pytest.mark.parametrize("kind", EXITS)
def test_the_same_seed_gives_the_same_exit(kind: str) -> None:
    states = []
    for _ in range(2):
        torch.manual_seed(7)
        head = build_exit(EXITS[kind].config_class(), encoder_width=WIDTH, num_labels=LABELS)
        states.append(head.state_dict())
    torch.testing.assert_close(*states, rtol=0, atol=0)


@pytest.mark.parametrize("kind", EXITS)
def test_settings_survive_a_file(kind: str) -> None:
    config = EXITS[kind].config_class(dropout=0.25, embedding="after_dropout")
    assert exit_config(json.loads(json.dumps(exit_settings(config)))) == config
    assert exit_settings(config)["kind"] == kind


@pytest.mark.parametrize("kind", EXITS)
def test_settings_refuse_a_dropout_that_is_no_share(kind: str) -> None:
    with pytest.raises(ValueError, match=r"dropout must be at least 0 and below 1, found 1\.5"):
        EXITS[kind].config_class(dropout=1.5)


@pytest.mark.usefixtures("without_type_checks")
@pytest.mark.parametrize("kind", EXITS)
def test_settings_refuse_an_unknown_place_of_the_embedding(kind: str) -> None:
    with pytest.raises(ValueError, match="found 'beside_dropout'"):
        exit_config({"kind": kind, "embedding": "beside_dropout"})
