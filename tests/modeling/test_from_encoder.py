"""Fresh exits on a pre-trained encoder, from a folder or in memory."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor
from transformers import GPT2Config, PreTrainedModel

from exitwise.errors import UnsupportedError
from exitwise.exits import LinearExit, LinearExitConfig, MHAExit, MHAExitConfig, PoolerExitConfig
from exitwise.modeling import MultiExitForSequenceClassification

Encoder = Callable[..., PreTrainedModel]
from_encoder = MultiExitForSequenceClassification.from_encoder
around = MultiExitForSequenceClassification.around


def test_it_has_the_weights_of_the_encoder_and_an_mha_exit_after_each_layer(
    tiny_encoder: Encoder, tmp_path: Path
) -> None:
    encoder = tiny_encoder("bert")
    encoder.save_pretrained(tmp_path)
    model = from_encoder(tmp_path, labels=["no", "yes"])
    weights = encoder.state_dict()
    expected = {name: weights[name] for name in model.encoder.state_dict()}
    torch.testing.assert_close(model.encoder.state_dict(), expected, rtol=0, atol=0)
    assert model.exit_layers == (1, 2, 3)
    assert all(type(each) is MHAExit for each in model.exits.values())
    assert model.config.label_names == ("no", "yes")
    assert model.config.label2id == {"no": 0, "yes": 1}
    assert model.num_labels == 2


def test_kinds_layers_and_depth_can_be_chosen(
    tiny_encoder: Encoder, batch: dict[str, Tensor], tmp_path: Path
) -> None:
    tiny_encoder("bert", num_hidden_layers=4).save_pretrained(tmp_path)
    model = from_encoder(
        tmp_path,
        labels=["no", "yes"],
        exit=LinearExitConfig(dropout=0.3),
        last_exit=MHAExitConfig(width=8),
        exit_layers=[1],
        num_layers=3,
    )
    assert (model.num_layers, len(model.encoder.encoder.layer)) == (3, 3)
    assert model.exit_layers == (1, 3)
    assert isinstance(model.exit(1), LinearExit)
    assert model.exit(1).dropout.p == 0.3
    assert model.exit_outputs(**batch)[3].embedding.shape == (4, 8)


def test_a_shortened_model_can_be_saved_and_loaded(
    tiny_encoder: Encoder, batch: dict[str, Tensor], tmp_path: Path
) -> None:
    tiny_encoder("modernbert").save_pretrained(tmp_path / "whole")
    model = from_encoder(tmp_path / "whole", labels=["no", "yes"], num_layers=2)
    model.save_pretrained(tmp_path / "short")
    found = MultiExitForSequenceClassification.from_pretrained(tmp_path / "short")
    torch.testing.assert_close(found(**batch).logits, model(**batch).logits, rtol=0, atol=0)


@pytest.mark.field_case(51)
def test_a_seed_decides_the_exits_whatever_the_encoder_was_drawn_from(
    tiny_encoder: Encoder,
) -> None:
    exits = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        exits.append(around(tiny_encoder("bert"), labels=["no", "yes"]).exits.state_dict())
    torch.testing.assert_close(exits[0], exits[1], rtol=0, atol=0)
    assert not torch.equal(exits[0]["1.down.weight"], exits[2]["1.down.weight"])


def test_an_encoder_in_memory_is_taken_as_it_is_but_for_its_pooler(tiny_encoder: Encoder) -> None:
    encoder = tiny_encoder("bert")
    assert encoder.pooler is not None
    expected = {name: weight.clone() for name, weight in encoder.state_dict().items()}
    model = around(encoder, labels=["no", "yes"])
    assert model.encoder is encoder
    expected = {name: expected[name] for name in expected if not name.startswith("pooler.")}
    torch.testing.assert_close(encoder.state_dict(), expected, rtol=0, atol=0)
    assert all(not parameter.is_meta for parameter in model.parameters())


@pytest.mark.parametrize("training", [False, True])
def test_the_exits_are_in_the_mode_of_the_encoder(training: bool, tiny_encoder: Encoder) -> None:
    model = around(tiny_encoder("bert").train(training), labels=["no", "yes"])
    assert {module.training for module in model.modules()} == {training}


def test_a_single_label_is_refused(tiny_encoder: Encoder) -> None:
    with pytest.raises(ValueError, match="at least 2 labels, found \\['yes'\\]"):
        around(tiny_encoder("bert"), labels=["yes"])


def test_labels_of_one_name_are_refused(tiny_encoder: Encoder) -> None:
    with pytest.raises(ValueError, match="labels must differ, found \\['yes', 'no', 'yes'\\]"):
        around(tiny_encoder("bert"), labels=["yes", "no", "yes"])


def test_the_exits_are_in_the_precision_of_the_encoder(
    tiny_encoder: Encoder, batch: dict[str, Tensor]
) -> None:
    model = around(tiny_encoder("bert").to(torch.bfloat16), labels=["no", "yes"])
    assert {parameter.dtype for parameter in model.parameters()} == {torch.bfloat16}
    assert model(**batch).logits.isfinite().all()


def test_an_exit_beyond_the_encoder_is_refused(tiny_encoder: Encoder) -> None:
    with pytest.raises(ValueError, match=r"exit_layers must be 1 … 3, found \[2, 4\]"):
        around(tiny_encoder("bert"), labels=["no", "yes"], exit_layers=[2, 4])


def test_an_unknown_encoder_is_refused_by_name(tmp_path: Path) -> None:
    GPT2Config().save_pretrained(tmp_path)
    with pytest.raises(UnsupportedError, match="an encoder of type 'gpt2' cannot be walked"):
        from_encoder(tmp_path, labels=["no", "yes"], last_exit=PoolerExitConfig())
