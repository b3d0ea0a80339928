"""What is looked up in a finished model."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.functional import cross_entropy
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from exitwise.data import DataConfig, LengthBucketSampler, Splits, TextDataset, batch_plan
from exitwise.exits import LinearExitConfig
from exitwise.exits.base import Exit
from exitwise.experiments import Experiments, Place, Runner, Runs, Store, jobs
from exitwise.experiments.answers import answered
from exitwise.experiments.merging import merged
from exitwise.experiments.observations import Finished, angles, embeddings, observe
from exitwise.experiments.observations.angles import contrast_of
from exitwise.experiments.observations.course import open_shares
from exitwise.experiments.observations.observe import shape
from exitwise.experiments.store import Result
from exitwise.inference.torch_engine import TorchEngine
from exitwise.losses import aligned_contrastive_loss, compared_rows, supervised_contrastive_loss
from exitwise.losses.diagnostics import MAX_COMPARED
from exitwise.metrics import score
from exitwise.modeling import MultiExitForSequenceClassification
from exitwise.objectives import AlignedContrast, CrossLayerContrast, Objective, SupervisedContrast
from exitwise.outputs import ExitOutput
from exitwise.recipe import Recipe
from exitwise.regimes import ExitsRegime, SingleExitRegime
from exitwise.training import TrainingSettings

from .conftest import EXPERIMENTS

WORDS = ("good", "bad", "great", "dull", "long", "story", "film", "plot")


def texts(rows: int) -> TextDataset:
    """No two rows alike; every fifth has no label."""
    written = [" ".join(WORDS[row // 8**place % 8] for place in range(4)) for row in range(rows)]
    labels = tuple(-1 if row % 5 == 4 else row % 2 for row in range(rows))
    return TextDataset(texts=tuple(written), pairs=None, labels=labels, source="words")


def labelled(rows: int) -> TextDataset:
    return replace(texts(rows), labels=tuple(row % 2 for row in range(rows)))


@pytest.fixture
def finished(
    tiny_encoder: Callable[..., PreTrainedModel], tiny_tokenizer: PreTrainedTokenizerFast
) -> Finished:
    """A model of three exits on 600 texts, with two validation sets."""
    model = MultiExitForSequenceClassification.around(
        tiny_encoder("bert"), labels=["no", "yes"], exit=LinearExitConfig()
    )
    recipe = Recipe(
        encoder="tiny",
        data=DataConfig(task="mrpc"),
        regime=SingleExitRegime(objective=Objective.scl()),
        training=TrainingSettings(micro_batch=8),
    )
    splits = Splits(
        train=labelled(600),
        validation={"validation_matched": texts(40), "validation_mismatched": texts(30)},
        test=None,
        label_names=("no", "yes"),
        metric="accuracy",
    )
    made = Finished(recipe, TorchEngine(model, tiny_tokenizer), splits)
    for layer, each in made.compared()[0].items():
        tell_apart(model.exit(layer), each.embedding)
    return made


def tell_apart(exit: Exit, samples: torch.Tensor) -> None:
    """Label embeddings on either side of the samples, so that both labels are answered."""
    mean = samples.mean(dim=0)
    direction = torch.linalg.svd(samples - mean).Vh[0]
    direction -= (direction @ mean) / (mean @ mean) * mean
    with torch.no_grad():
        exit.classifier.weight.copy_(torch.stack([direction, -direction]))


def with_objective(finished: Finished, objective: Objective) -> Finished:
    recipe = replace(finished.recipe, regime=SingleExitRegime(objective=objective))
    return replace(finished, recipe=recipe)


def output(embedding: torch.Tensor) -> ExitOutput:
    return ExitOutput(
        logits=torch.zeros(len(embedding), 2), embedding=embedding, label_embeddings=torch.eye(2)
    )


def test_samples_on_their_label_embedding_have_cosine_one() -> None:
    labels, last = torch.tensor([0, 1, 1, 0]), torch.eye(2)
    found = shape(output(3 * torch.eye(2)[labels]), labels, last=last)
    assert found["own_label_similarity"] == 1.0
    assert found["alignment"] == 0.0
    assert found["negative_similarity"] == 0.0
    turned = shape(output(torch.eye(2)[1 - labels]), labels, last=last)
    assert turned["own_label_similarity"] == 0.0


def test_the_last_exits_label_embeddings_are_compared_where_they_are_as_wide() -> None:
    samples, labels = output(torch.eye(2)), torch.tensor([0, 1])
    assert shape(samples, labels, last=-5 * torch.eye(2))["last_label_similarity"] == -1.0
    assert shape(samples, labels, last=torch.eye(3)[:2])["last_label_similarity"] is None


def test_what_is_not_defined_is_none() -> None:
    labels = torch.tensor([0, 1])  # no two samples of one label
    found = shape(output(torch.eye(2)), labels, last=torch.eye(2))
    assert found["alignment"] is None
    assert found["negative_similarity"] == 0.0


def test_answers_are_kept_for_every_validation_set(finished: Finished) -> None:
    found = observe(finished)
    other = found["other_sets"]["validation_mismatched"]
    assert list(found["other_sets"]) == ["validation_mismatched"]
    assert (len(found["labels"]), len(other["labels"])) == (40, 30)
    assert found["labels"].startswith("0101.1010.")
    assert set(found["answers"]) == set(other["answers"]) == {"1", "2", "3"}
    assert other["answers"]["3"] == found["answers"]["3"][:30]  # the same texts
    assert all(set(answers) == {"0", "1"} for answers in found["answers"].values())


def test_geometry_is_that_of_the_labelled_rows_of_the_first_set(finished: Finished) -> None:
    first = finished.splits.validation["validation_matched"]
    rows = [row for row, label in enumerate(first.labels) if label >= 0]
    kept = first.select(rows, note="labelled")
    alone = replace(finished, splits=replace(finished.splits, validation={"validation": kept}))
    assert observe(finished)["geometry"] == observe(alone)["geometry"]


def test_of_a_large_set_the_embeddings_of_so_many_rows_are_kept(finished: Finished) -> None:
    many = texts(2 * MAX_COMPARED)
    splits = replace(finished.splits, validation={"validation": many})
    outputs, labels = replace(finished, splits=splits).compared()
    rows = compared_rows(torch.tensor(many.labels))
    assert len(labels) == len(outputs[3].embedding) == MAX_COMPARED
    assert labels.equal(torch.tensor(many.labels)[rows])
    logits = finished.engine.logits([many.texts[row] for row in rows.tolist()])
    assert torch.allclose(outputs[3].logits, torch.from_numpy(logits[2]), atol=1e-5)


def test_embeddings_are_mapped_with_a_place_for_each_label(finished: Finished) -> None:
    found = embeddings(finished, 2)
    assert found["layer"] == 2
    assert found["labels"] == "".join("01"[row % 2] for row in range(40) if row % 5 < 4)
    assert (len(found["samples"]), len(found["label_embeddings"])) == (32, 2)


def test_embeddings_are_of_the_precision_of_the_answers(finished: Finished) -> None:
    engine = TorchEngine(finished.engine.model, finished.engine.tokenizer, dtype=torch.bfloat16)
    rounded, exact = (
        each.compared()[0][3] for each in (replace(finished, engine=engine), finished)
    )
    assert rounded.embedding.dtype == torch.float32
    assert not torch.equal(rounded.embedding, exact.embedding)
    assert torch.allclose(rounded.embedding, exact.embedding, atol=0.2)


@pytest.mark.parametrize(
    "auxiliary",
    [
        None,
        SupervisedContrast(temperature=0.1, denominator="khosla"),
        AlignedContrast(temperature=0.1, denominator="khosla", normalize=False),
    ],
)
def test_the_angle_is_that_of_the_recipes_contrast_on_a_training_batch(
    finished: Finished, auxiliary: SupervisedContrast | AlignedContrast | None
) -> None:
    (found,) = angles(with_objective(finished, Objective(auxiliary=auxiliary)), 1)["angles"]
    given = auxiliary or SupervisedContrast()
    encoded = finished.encoded(finished.splits.train)
    rows = list(LengthBucketSampler(encoded.lengths, batch_size=8, seed=42))[:8]
    ((padded, labels),) = finished.batches(encoded, rows)
    model = finished.engine.model
    last = model.exit_outputs(**padded, layers=[3])[3]
    items = (last.embedding, labels)
    loss = supervised_contrastive_loss
    if isinstance(given, AlignedContrast):
        items = (last.embedding, last.label_embeddings, labels)
        loss = aligned_contrastive_loss
    contrast = loss(
        *items,
        temperature=given.temperature,
        denominator=given.denominator,
        normalize=given.normalize,
    )
    losses = (cross_entropy(last.logits, labels), contrast)
    gradients = []
    for loss in losses:
        model.zero_grad()
        loss.backward(retain_graph=True)
        gradients.append(
            torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).flatten()
                       for p in model.parameters()]).double()
        )  # fmt: skip
    cosine = torch.cosine_similarity(*gradients, dim=0)
    assert found == pytest.approx(torch.rad2deg(torch.acos(cosine)).item(), abs=0.01)


def test_accumulation_chosen_by_hand_decides_the_batch_as_in_training(finished: Finished) -> None:
    recipe = replace(finished.recipe, training=TrainingSettings(accumulation=3))
    found = angles(replace(finished, recipe=recipe), 2)
    assert found["batch"] == batch_plan(600, accumulation=3).micro_batch == 1
    assert batch_plan(600).micro_batch == 3
    assert found["undefined"] == 2  # a single sample has no positive


def test_the_contrast_of_a_recipe_is_that_of_its_first_stage_that_has_one() -> None:
    backbone = SingleExitRegime(objective=Objective.cross_entropy())
    recipe = Recipe(encoder="tiny", data=DataConfig(task="rte"), regime=backbone)
    assert contrast_of(recipe, 3) == SupervisedContrast()
    objective = Objective(auxiliary=AlignedContrast(temperature=0.2, denominator="khosla"))
    exits = replace(recipe, regime=ExitsRegime(objective=objective))
    assert contrast_of(exits, 3) == objective.auxiliary
    across = replace(
        recipe, regime=ExitsRegime(objective=Objective(auxiliary=CrossLayerContrast()))
    )
    assert contrast_of(across, 3) == SupervisedContrast()


def cell_of(task: str, row: str, tiny_path: str, **changes: object) -> Place:
    """A row of table 1 for a task, at the scale of seconds."""
    read = Experiments.read(EXPERIMENTS, "smoke").narrowed(
        encoders={"bert": tiny_path, "roberta": tiny_path}
    )
    recipe = merged(read.overlay.recipe, changes)
    overlay = replace(read.overlay, tasks=(task,), tasks_of={}, recipe=recipe)
    places = replace(read, overlay=overlay).places(["table1"])
    return next(place for place in places if place.row.name == row)


def whole_cell(place: Place, tmp_path: Path, data_dir: Path) -> Result:
    """Trained and looked into, with what it starts from."""
    store = Store(tmp_path / "results")
    runner = Runner(store, Runs(tmp_path / "runs"), data_dir, places=[place], angle_batches=1)
    runner.run(jobs([place], store))
    return store.read(place.cell.key)


def check_answers_give_the_scores(result: Result) -> None:
    """Of every exit on every validation set, to the last digit."""
    metric, num_labels = result["data"]["metric"], len(result["data"]["labels"])
    for name, (labels, answers) in answered(result).items():
        exits = result["scores"][name]["exits"]
        assert answers.keys() == exits.keys()
        for layer, each in answers.items():
            assert score(each, labels, metric, num_labels) == exits[layer], (name, layer)


def test_a_cell_of_mnli_has_scores_and_answers_of_both_sets(
    tiny_path: str, tmp_path: Path, tiny_glue: Path
) -> None:
    place = cell_of("mnli", "ACL-BERT-6L", tiny_path)
    result = whole_cell(place, tmp_path, tiny_glue)
    sets = ["validation_matched", "validation_mismatched"]
    assert [name for name in result["scores"] if name.startswith("validation")] == sets
    assert list(answered(result)) == sets
    assert all(len(found.labels) == 12 for found in answered(result).values())
    check_answers_give_the_scores(result)


def test_answers_of_a_run_in_bfloat16_give_its_scores(
    tiny_path: str, tmp_path: Path, tiny_glue: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = {"micro_batch": 8, "accumulation": 1, "precision": "bf16"}
    place = cell_of("mrpc", "BERT, CE", tiny_path, training=training)
    loaded = []

    def observed(finished: Finished) -> dict[str, Any]:
        loaded.append(finished.engine.dtype)
        return observe(finished)

    monkeypatch.setattr("exitwise.experiments.runner.observe", observed)
    check_answers_give_the_scores(whole_cell(place, tmp_path, tiny_glue))
    assert loaded == [torch.bfloat16]


def test_open_gates_are_counted_part_by_part(tmp_path: Path) -> None:
    lines = [{"open": number >= 10, "angle": None, "group": "all"} for number in range(40)]
    path = tmp_path / "stage.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    assert open_shares(path, parts=4) == [0.0, 1.0, 1.0, 1.0]
    assert open_shares(tmp_path / "none.jsonl") == []


@pytest.mark.parametrize("count", [1, 7])
def test_fewer_decisions_than_parts_leave_parts_out(tmp_path: Path, count: int) -> None:
    path = tmp_path / "stage.jsonl"
    path.write_text("\n".join(json.dumps({"open": True}) for _ in range(count)))
    assert open_shares(path) == [1.0] * count
