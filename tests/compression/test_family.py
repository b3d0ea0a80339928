"""What every way to a smaller model promises."""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForSequenceClassification

from exitwise.compression import Compression, TrainerFit
from exitwise.modeling import MultiExitForSequenceClassification
from exitwise.recipe import from_plain, to_plain

MakeModel = Callable[..., MultiExitForSequenceClassification]

TEXTS = {
    "input_ids": torch.tensor([[2, 9, 30, 12, 3], [2, 17, 3, 0, 0]]),
    "attention_mask": torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]),
}


@dataclass(frozen=True, kw_only=True)
class Holder:
    """A place for a compression, as a recipe has one."""

    compression: Compression | None = None


@pytest.fixture(params=sorted(Compression.registry))
def settings(request: pytest.FixtureRequest) -> Compression:
    """Each member with its defaults, but for the number of layers and of epochs."""
    member = Compression.registry[request.param]
    names = {field.name for field in fields(member)}
    small: dict[str, Any] = {"keep": 2} | {name: 1 for name in names if name.endswith("epochs")}
    return member(**{name: value for name, value in small.items() if name in names})


def test_the_model_is_smaller_and_answers_at_its_last_exit_alone(
    settings: Compression, make_model: MakeModel, fit: TrainerFit, tmp_path: Path
) -> None:
    model = make_model()
    num_parameters = model.num_parameters()
    smaller = settings.compress(model, fit).eval()
    assert smaller.num_parameters() < num_parameters
    assert smaller.num_layers == settings.num_layers(4)
    assert smaller.exit_layers == (smaller.num_layers,)
    assert smaller.config.label_names == ("bad", "good")
    logits = smaller(**TEXTS).logits
    assert logits.shape == (2, 2)
    assert logits.isfinite().all()
    smaller.save_pretrained(tmp_path / "model")
    found = AutoModelForSequenceClassification.from_pretrained(tmp_path / "model")
    torch.testing.assert_close(found.state_dict(), smaller.cpu().state_dict(), rtol=0, atol=0)
    torch.testing.assert_close(found(**TEXTS).logits, smaller(**TEXTS).logits, rtol=0, atol=0)


def test_two_runs_of_the_same_seed_are_equal(
    settings: Compression, make_model: MakeModel, fit: TrainerFit
) -> None:
    states = []
    for _ in range(2):
        torch.manual_seed(5)
        states.append(settings.compress(make_model(), fit).state_dict())
    torch.testing.assert_close(states[0], states[1], rtol=0, atol=0)


def test_more_layers_than_there_are_cannot_stay(settings: Compression) -> None:
    assert settings.num_layers(4) in (2, 4)
    if hasattr(settings, "keep"):
        with pytest.raises(ValueError, match=r"^keep must be .*, found 2$"):
            settings.num_layers(1)


def test_a_recipe_can_hold_it(settings: Compression) -> None:
    plain = to_plain(Holder(compression=settings))
    assert plain["compression"]["kind"] == Compression.registry.key(type(settings))
    assert from_plain(Holder, plain) == Holder(compression=settings)


def needed(member: type[Compression]) -> dict[str, Any]:
    """What has no default."""
    return {"keep": 2} if "keep" in {field.name for field in fields(member)} else {}


@pytest.mark.parametrize("kind", sorted(Compression.registry))
def test_a_table_of_kind_and_keep_is_enough(kind: str) -> None:
    member = Compression.registry[kind]
    plain = {"kind": kind} | needed(member)
    assert from_plain(Compression, plain) == member(**needed(member))


def misfits(suffix: str, value: float) -> list[Any]:
    """Every member with each of its settings of that suffix set to a wrong value."""
    wrong = [
        pytest.param(member, field.name, value, id=f"{kind}-{field.name}-{value}")
        for kind, member in sorted(Compression.registry.items())
        for field in fields(member)
        if field.name.endswith(suffix)
    ]
    assert {each.values[0] for each in wrong} == set(Compression.registry.values())
    return wrong


@pytest.mark.parametrize(
    ("member", "name", "value"),
    [
        *misfits("learning_rate", 0.0),
        *misfits("learning_rate", -2e-5),
        *misfits("learning_rate", math.nan),
        *misfits("epochs", -1),
    ],
)
def test_training_that_cannot_be_is_refused_by_name(
    member: type[Compression], name: str, value: float
) -> None:
    with pytest.raises(ValueError, match=rf"^{name} must be .*, found {value}$"):
        member(**needed(member), **{name: value})


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("distillation", "epochs"),
        ("layer_drop", "epochs"),
        ("layerwise_distillation", "intermediate_epochs"),
        ("module_replacement", "replacing_epochs"),
    ],
)
def test_what_makes_the_model_smaller_takes_an_epoch(kind: str, name: str) -> None:
    with pytest.raises(ValueError, match=rf"^{name} must be at least 1, found 0$"):
        Compression.registry[kind](keep=2, **{name: 0})
