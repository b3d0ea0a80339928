"""The Trainer of a stage: what it trains, what it leaves alone, and that it does so exactly."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import TrainerCallback

from exitwise.data import EncodedTexts
from exitwise.encoders import layerwise
from exitwise.gradients import GradientGate
from exitwise.modeling import MultiExitForSequenceClassification
from exitwise.objectives import Objective, SupervisedContrast, Terms
from exitwise.regimes import (
    AlternatingRegime,
    ExitsRegime,
    JointRegime,
    Regime,
    SingleExitRegime,
    Stage,
)
from exitwise.training import GateLog, MultiExitTrainer
from exitwise.training.trainer import Batch, compared_parameters

MakeModel = Callable[..., MultiExitForSequenceClassification]
MakeTrainer = Callable[..., MultiExitTrainer]
LAYERS = 3


def stage_of(regime: Regime) -> Stage:
    (stage,) = regime.stages(LAYERS)
    return stage


def backbone(objective: Objective, **settings: Any) -> Stage:
    return stage_of(SingleExitRegime(objective=objective, epochs=2, learning_rate=1e-3, **settings))


def exits(objective: Objective = Objective.acl_cl(), **settings: Any) -> Stage:  # noqa: B008
    return stage_of(ExitsRegime(objective=objective, epochs=2, learning_rate=1e-3, **settings))


def state(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in module.state_dict().items()}


def differing(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> list[str]:
    assert first.keys() == second.keys()
    return [name for name in first if not torch.equal(first[name], second[name])]


@pytest.mark.field_case(51)
def test_two_runs_with_one_seed_end_with_the_same_bits(
    make_model: MakeModel, make_trainer: MakeTrainer
) -> None:
    ends = []
    for _ in range(2):
        model = make_model(dropout=0.1)
        make_trainer(model, backbone(Objective.acl())).train()
        ends.append(state(model))
    assert differing(*ends) == []


@pytest.mark.field_case(34)
@pytest.mark.parametrize(
    "objective",
    [
        replace(Objective.acl(), weight=0.0),
        replace(Objective.acl(), gate=GradientGate(max_angle=0.0, on_undefined="drop")),
    ],
    ids=["weight 0", "closed gate"],
)
def test_without_contrast_training_is_that_of_cross_entropy_bit_for_bit(
    objective: Objective, make_model: MakeModel, make_trainer: MakeTrainer
) -> None:
    ends = []
    for each in (Objective.cross_entropy(), objective):
        model = make_model(dropout=0.1)
        make_trainer(model, backbone(each)).train()
        ends.append(state(model))
    assert differing(*ends) == []


def test_contrast_changes_what_is_learned(make_model: MakeModel, make_trainer: MakeTrainer) -> None:
    ends = []
    for each in (Objective.cross_entropy(), Objective.acl()):
        model = make_model()
        make_trainer(model, backbone(each)).train()
        ends.append(state(model))
    assert differing(*ends)


def test_an_exit_trained_alone_or_with_others_has_the_same_weights(
    make_model: MakeModel, make_trainer: MakeTrainer
) -> None:
    together, alone = make_model(), make_model()
    make_trainer(together, exits()).train()
    make_trainer(alone, replace(exits(), schedule=((2,),))).train()
    assert differing(state(together.exit(2)), state(alone.exit(2))) == []


@pytest.mark.field_case(48)
def test_what_a_stage_does_not_train_keeps_its_bits_and_has_no_gradient(
    make_model: MakeModel, make_trainer: MakeTrainer
) -> None:
    model = make_model(dropout=0.1)
    before = state(model)
    make_trainer(model, exits()).train()
    changed = differing(before, state(model))
    assert changed
    assert all(name.startswith(("exits.1.", "exits.2.")) for name in changed)
    frozen = [*model.encoder.parameters(), *model.exit(LAYERS).parameters()]
    assert all(parameter.grad is None for parameter in frozen)


@pytest.mark.field_case(48)
def test_frozen_parts_run_in_evaluation_mode_and_trained_exits_do_not(
    make_model: MakeModel, make_trainer: MakeTrainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_model(dropout=0.1)
    modes: list[tuple[bool, bool, bool]] = []
    trainer = make_trainer(model, exits())
    losses = trainer.losses

    def watched(inputs: Batch, layers: Sequence[int]) -> Terms:
        modes.append((model.encoder.training, model.exit(LAYERS).training, model.exit(1).training))
        return losses(inputs, layers)

    monkeypatch.setattr(trainer, "losses", watched)
    trainer.train()
    assert set(modes) == {(False, False, True)}


@pytest.mark.field_case(45)
def test_micro_batches_make_the_batch_that_they_are_part_of(
    make_model: MakeModel, make_trainer: MakeTrainer, make_rows: Callable[..., EncodedTexts]
) -> None:
    ends = []
    for accumulation in (1, 4):
        model = make_model()
        trainer = make_trainer(
            model,
            replace(backbone(Objective.cross_entropy()), epochs=1),
            rows=make_rows(8),
            micro_batch=8 // accumulation,
            accumulation=accumulation,
            arguments={
                "optim": "sgd",
                "warmup_steps": 0,
                "learning_rate": 1.0,
                "max_grad_norm": 0.0,
            },
        )
        trainer.train()
        assert trainer.state.global_step == 1
        ends.append(state(model))
    one, four = ends
    for name, tensor in one.items():
        torch.testing.assert_close(four[name], tensor, rtol=1e-6, atol=1e-6)


@pytest.mark.field_case(26)
def test_a_last_batch_of_one_row_is_trained_on(
    make_model: MakeModel, make_trainer: MakeTrainer, make_rows: Callable[..., EncodedTexts]
) -> None:
    model = make_model()
    trainer = make_trainer(model, backbone(Objective.scl()), rows=make_rows(9))
    trainer.train()
    assert trainer.state.global_step == 4
    assert all(tensor.isfinite().all() for tensor in model.state_dict().values())


def test_in_epochs_of_the_last_exit_the_others_neither_move_nor_decay(
    make_model: MakeModel, make_trainer: MakeTrainer
) -> None:
    states: list[dict[str, torch.Tensor]] = []

    class Watch(TrainerCallback):
        def on_epoch_end(self, *arguments: Any, **settings: Any) -> None:
            states.append(state(model.exit(1)))

    model = make_model()
    stage = stage_of(AlternatingRegime(epochs=3, learning_rate=1e-2))
    make_trainer(model, stage, callbacks=[Watch()]).train()
    first, second, third = states
    assert differing(first, state(make_model().exit(1))) == []
    assert differing(first, second)
    assert differing(second, third) == []


def test_joint_training_is_one_backward_of_the_sum(
    make_model: MakeModel, make_trainer: MakeTrainer
) -> None:
    model = make_model()
    stage = stage_of(JointRegime(epochs=1, weights="depth"))
    trainer = make_trainer(model, stage)
    batch = next(iter(trainer.get_train_dataloader()))
    trainer.current_gradient_accumulation_steps = 1
    trainer.training_step(model, batch)
    reached = dict(model.named_parameters())
    reached = {name: each for name, each in reached.items() if each.grad is not None}
    found = {name: parameter.grad.clone() for name, parameter in reached.items()}
    model.zero_grad()
    outputs = model.exit_outputs(
        batch["input_ids"], batch["attention_mask"], batch["token_type_ids"]
    )
    losses = [
        layer / 6 * torch.nn.functional.cross_entropy(output.logits, batch["labels"])
        for layer, output in outputs.items()
    ]
    torch.stack(losses).sum().backward()
    assert {name.split(".")[0] for name in found} == {"encoder", "exits"}
    for name, parameter in reached.items():
        torch.testing.assert_close(found[name], parameter.grad, rtol=1e-5, atol=1e-7)


def test_exits_have_their_own_rate_and_biases_and_norms_do_not_decay(
    make_model: MakeModel, make_trainer: MakeTrainer
) -> None:
    model = make_model()
    trainer = make_trainer(model, backbone(Objective.acl(), exit_learning_rate=0.5))
    optimizer = trainer.create_optimizer()
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            name = names.pop(id(parameter))
            assert group["lr"] == (0.5 if name.startswith("exits.") else 1e-3)
            plain = "bias" in name or "LayerNorm" in name
            assert group["weight_decay"] == (0.0 if plain else 0.01)
    assert all(name.startswith(("exits.1.", "exits.2.")) for name in names.values())


def test_gradients_are_clipped_exit_by_exit(
    make_model: MakeModel, make_trainer: MakeTrainer
) -> None:
    norms: list[float] = []

    class Watch(TrainerCallback):
        def on_optimizer_step(self, *arguments: Any, **settings: Any) -> None:
            for layer in (1, 2):
                gradients = [each.grad for each in model.exit(layer).parameters()]
                norms.append(float(torch.nn.utils.get_total_norm(gradients)))

    model = make_model()
    arguments = {"max_grad_norm": 1e-3}
    trainer = make_trainer(model, exits(), arguments=arguments, callbacks=[Watch()])
    trainer.train()
    assert norms == pytest.approx([1e-3] * len(norms), rel=1e-3)


def test_every_decision_of_the_gate_is_kept_and_summed_up(
    make_model: MakeModel, make_trainer: MakeTrainer, tmp_path: Path
) -> None:
    path = tmp_path / "gates.jsonl"
    model = make_model()
    trainer = make_trainer(model, exits(), gate_log=GateLog(path), arguments={"logging_steps": 3})
    trainer.train()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(lines) == 2 * 3 * 2  # epochs, batches, exits
    assert {line["group"] for line in lines} == {"exit_1", "exit_2"}
    assert all(line["open"] == (line["angle"] is None or line["angle"] <= 90) for line in lines)
    logged = [entry for entry in trainer.state.log_history if "gate_open" in entry]
    assert len(logged) == 2
    mean = sum(line["angle"] for line in lines[:6]) / 6
    assert logged[0]["gate_angle"] == pytest.approx(mean, abs=1e-3)
    assert logged[0]["gate_open"] == sum(line["open"] for line in lines[:6]) / 6


@pytest.mark.parametrize(
    ("gate", "decisions"),
    [
        (GradientGate(shortcut="representation"), 6),
        (GradientGate(shortcut="last_layers", last_layers=2), 6),
        (GradientGate(interval=4), 2),
    ],
)
def test_cheaper_gates_train_the_whole_model(
    make_model: MakeModel, make_trainer: MakeTrainer, gate: GradientGate, decisions: int
) -> None:
    model = make_model()
    before = state(model.encoder)
    objective = replace(Objective.acl(), gate=gate)
    trainer = make_trainer(model, backbone(objective), arguments={"logging_steps": 1})
    trainer.train()
    assert len([entry for entry in trainer.state.log_history if "gate_open" in entry]) == decisions
    assert len(differing(before, state(model.encoder))) > len(before) / 2


def test_the_last_layers_are_the_deepest_and_the_exits(make_model: MakeModel) -> None:
    model = make_model()
    gate = GradientGate(shortcut="last_layers", last_layers=2)
    chosen = compared_parameters(model, backbone(replace(Objective.acl(), gate=gate)))
    assert chosen is not None
    layers = layerwise(model.encoder).layers
    expected = [*model.exit(3).parameters(), *layers[1].parameters(), *layers[2].parameters()]
    assert {id(each) for each in chosen} == {id(each) for each in expected}


def test_the_losses_of_a_tiny_run_stay_what_they_were(
    make_model: MakeModel, make_trainer: MakeTrainer
) -> None:
    model = make_model()
    found = []
    for stage in (backbone(Objective.acl()), exits()):
        trainer = make_trainer(model, stage, arguments={"logging_steps": 1})
        trainer.train()
        found += [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    # Of version 0.1's first trainer: training that becomes faster is to stay the same training.
    expected = [1.22208, 1.20294, 1.15227, 1.15308, 1.15217, 1.14880]  # the last exit alone
    expected += [4.27103, 4.28027, 3.84401, 3.82789, 3.82427, 3.82174]  # then the other two
    assert found == pytest.approx(expected, rel=1e-4)


@pytest.mark.field_case(24)
def test_batches_without_a_positive_are_counted(
    make_model: MakeModel, make_trainer: MakeTrainer, make_rows: Callable[..., EncodedTexts]
) -> None:
    objective = Objective(auxiliary=SupervisedContrast())
    trainer = make_trainer(
        make_model(),
        backbone(objective),
        rows=make_rows(3),
        micro_batch=1,
        arguments={"logging_steps": 3},
    )
    trainer.train()
    logged = [entry for entry in trainer.state.log_history if "loss" in entry]
    assert [entry["batches_without_positive"] for entry in logged] == [3, 3]


@pytest.mark.field_case(61)
def test_flipped_labels_raise_the_share_of_conflicts(
    make_model: MakeModel,
    make_trainer: MakeTrainer,
    make_rows: Callable[..., EncodedTexts],
    tmp_path: Path,
) -> None:
    shares = []
    for flipped in ((), (0, 5, 10, 15, 20)):  # about 20 % of the rows
        path = tmp_path / f"{len(flipped)}.jsonl"
        stage = replace(backbone(Objective.acl(), exit_learning_rate=1e-2), epochs=12)
        trainer = make_trainer(
            make_model(), stage, rows=make_rows(flipped=flipped), gate_log=GateLog(path)
        )
        trainer.train()
        angles = [json.loads(line)["angle"] for line in path.read_text().splitlines()]
        shares.append(sum(angle > 90 for angle in angles[len(angles) // 2 :]))
    clean, noisy = shares
    assert noisy > clean


def test_a_stage_broken_off_goes_on_to_the_same_bits(
    make_model: MakeModel, make_trainer: MakeTrainer, tmp_path: Path
) -> None:
    stage = replace(backbone(Objective.acl()), epochs=4)
    whole = make_model(dropout=0.1)
    make_trainer(whole, stage, folder=tmp_path / "whole").train()

    class BreakOff(TrainerCallback):
        def on_epoch_end(self, args: Any, state: Any, control: Any, **settings: Any) -> None:
            control.should_training_stop = state.epoch >= 2

    saving = {"save_strategy": "epoch"}
    broken = make_model(dropout=0.1)
    make_trainer(
        broken, stage, folder=tmp_path / "broken", arguments=saving, callbacks=[BreakOff()]
    ).train()
    resumed = make_model(dropout=0.1)
    checkpoint = tmp_path / "broken" / "checkpoint-6"
    make_trainer(resumed, stage, folder=tmp_path / "broken", arguments=saving).train(
        resume_from_checkpoint=str(checkpoint)
    )
    assert differing(state(whole), state(resumed)) == []


@pytest.mark.field_case(32)
def test_class_weights_act_on_cross_entropy_alone(
    make_model: MakeModel, make_trainer: MakeTrainer
) -> None:
    model = make_model()
    with torch.no_grad():
        model.exit(LAYERS).classifier.weight.normal_(std=5.0)  # answers that differ by class
    trainer = make_trainer(model, backbone(Objective.acl()), class_weights=torch.tensor([0.5, 3.0]))
    plain = make_trainer(model, backbone(Objective.acl()))
    batch = next(iter(plain.get_train_dataloader()))
    weighted, unweighted = (each.losses(batch, [LAYERS]) for each in (trainer, plain))
    assert weighted.auxiliary is not None
    assert torch.equal(weighted.auxiliary, unweighted.auxiliary)
    expected = torch.nn.functional.cross_entropy(
        model.exit_outputs(batch["input_ids"], batch["attention_mask"], batch["token_type_ids"])[
            LAYERS
        ].logits,
        batch["labels"],
        weight=torch.tensor([0.5, 3.0]),
    )
    torch.testing.assert_close(weighted.primary, expected)
    assert not torch.equal(weighted.primary, unweighted.primary)
