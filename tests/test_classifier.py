"""`EarlyExitClassifier`: the habits of scikit-learn, with and without calibration."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import huggingface_hub
import numpy as np
import pytest
from sklearn.metrics import accuracy_score, get_scorer
from transformers import PreTrainedModel, PreTrainedTokenizerFast

import exitwise
from exitwise.classifier import EarlyExitClassifier, load_engine
from exitwise.errors import ExitwiseError
from exitwise.inference.policy_file import write_policy
from exitwise.modeling import MultiExitForSequenceClassification
from exitwise.policies import ConfidencePolicy, FixedPolicy, VotePolicy

TEXTS = ["a very good film", "", "dull and long", "not good , not bad", "great " * 80]


@pytest.fixture
def folder(
    tmp_path: Path,
    tiny_encoder: Callable[..., PreTrainedModel],
    tiny_tokenizer: PreTrainedTokenizerFast,
) -> Path:
    """A model with exits after three layers."""
    path = tmp_path / "model"
    model = MultiExitForSequenceClassification.around(tiny_encoder("bert"), labels=["bad", "good"])
    model.save_pretrained(path)
    tiny_tokenizer.save_pretrained(path)
    return path


def test_it_is_a_public_name() -> None:
    assert exitwise.EarlyExitClassifier is EarlyExitClassifier


def test_without_calibration_the_last_exit_answers(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO"):
        classifier = EarlyExitClassifier.from_pretrained(folder)
    assert "is not calibrated: every text runs to the last layer" in caplog.text
    assert set(classifier.answers(TEXTS).layers) == {3}


def test_predictions_fit_together(folder: Path) -> None:
    policy = ConfidencePolicy(threshold=0.55, temperatures={1: 0.5, 2: 0.5, 3: 0.5})
    classifier = EarlyExitClassifier.from_pretrained(folder, policy=policy)
    assert classifier.classes_.tolist() == ["bad", "good"]
    names, probabilities = classifier.predict(TEXTS), classifier.predict_proba(TEXTS)
    np.testing.assert_array_equal(names, classifier.classes_[probabilities.argmax(axis=-1)])
    np.testing.assert_allclose(probabilities.sum(axis=-1), 1)
    for row, found in enumerate(classifier.predict_detailed(TEXTS)):
        assert found.label == names[row]
        assert found.probability == pytest.approx(probabilities[row].max())
        assert list(found.by_layer) == list(range(1, found.layer + 1))
        assert found.by_layer[found.layer][found.label] == pytest.approx(found.probability)
    assert classifier.score(np.array(TEXTS), names) == 1.0


def test_a_vote_may_answer_what_the_newest_exit_does_not_say(folder: Path) -> None:
    classifier = EarlyExitClassifier.from_pretrained(folder, policy=VotePolicy(votes=2))
    for found in classifier.predict_detailed(TEXTS):
        assert found.probability == pytest.approx(found.by_layer[found.layer][found.label])


def test_bfloat16_can_be_asked_for(folder: Path) -> None:
    exact = EarlyExitClassifier.from_pretrained(folder)
    rounded = EarlyExitClassifier.from_pretrained(folder, dtype="bfloat16")
    assert rounded.engine is not None
    assert rounded.engine.dtype_name == "bfloat16"
    found, expected = rounded.predict_proba(TEXTS), exact.predict_proba(TEXTS)
    assert not np.array_equal(found, expected)
    np.testing.assert_allclose(found, expected, atol=1e-2)


def test_the_size_of_batches_may_change_later(folder: Path) -> None:
    classifier = EarlyExitClassifier.from_pretrained(folder)
    sizes = []
    run = classifier.engine.run

    def noted(state: Any, **to: int) -> Any:
        sizes.append(classifier.engine.size(state)[0])
        return run(state, **to)

    classifier.engine.run = noted
    classifier.predict(TEXTS)
    classifier.set_params(batch_size=2).predict(TEXTS)
    assert sizes == [5, 2, 2, 1]


def test_what_is_saved_is_loaded(folder: Path, tmp_path: Path) -> None:
    policy = ConfidencePolicy(threshold={1: 0.9, 2: None}, temperatures={1: 2.0})
    classifier = EarlyExitClassifier.from_pretrained(folder, policy=policy)
    classifier.save_pretrained(tmp_path / "saved")
    again = EarlyExitClassifier.from_pretrained(tmp_path / "saved")
    assert again.policy == policy
    np.testing.assert_array_equal(again.predict_proba(TEXTS), classifier.predict_proba(TEXTS))


@pytest.mark.field_case(9)
def test_loading_and_answering_change_no_file(folder: Path) -> None:
    def hashes() -> dict[str, str]:
        return {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()
        }

    before = hashes()
    EarlyExitClassifier.from_pretrained(folder).predict(TEXTS)
    assert hashes() == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "policy.json is no policy"),
        ('{"format_version": 1}', "policy.json is no policy"),
        ('{"format_version": 9, "policy": {}}', "format version 9, this exitwise reads 1"),
        (
            '{"format_version": 1, "policy": {"kind": "confidence", "threshold": 7.5}}',
            "policy.json: a threshold of ConfidencePolicy is from 0 to 1",
        ),
        (
            '{"format_version": 1, "policy": {"kind": "confidence", "threshold": {"9": 0.9}}}',
            "policy.json: the policy has thresholds for the layers 9, .* exits at 1, 2, 3",
        ),
    ],
)
def test_a_policy_that_does_not_fit_is_refused(folder: Path, content: str, message: str) -> None:
    (folder / "policy.json").write_text(content)
    with pytest.raises(ExitwiseError, match=message):
        EarlyExitClassifier.from_pretrained(folder)


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ExitwiseError, match="holds no model"):
        EarlyExitClassifier.from_pretrained(tmp_path)


@pytest.mark.parametrize("layer", [1, 2])
def test_a_fixed_layer_asks_no_other_exit(folder: Path, layer: int) -> None:
    classifier = EarlyExitClassifier.from_pretrained(folder, policy=FixedPolicy(layer=layer))
    assert set(classifier.answers(TEXTS).layers) == {layer}
    assert {tuple(found.by_layer) for found in classifier.predict_detailed(TEXTS)} == {(layer,)}


@pytest.mark.parametrize("batch_size", [0, -1])
def test_a_batch_of_no_rows_is_refused(folder: Path, batch_size: int) -> None:
    message = f"batch_size must be at least 1, found {batch_size}"
    with pytest.raises(ValueError, match=message):
        EarlyExitClassifier.from_pretrained(folder, batch_size=batch_size)
    with pytest.raises(ValueError, match=message):
        EarlyExitClassifier(batch_size=batch_size).fit(["good"], [1])


def test_a_score_needs_a_label_of_a_known_class_for_each_text(folder: Path) -> None:
    classifier = EarlyExitClassifier.from_pretrained(folder)
    with pytest.raises(ExitwiseError, match="found 5 of text, 1 of label"):
        classifier.score(TEXTS, ["good"])
    with pytest.raises(ExitwiseError, match="label 1: unknown label '1'; known are bad, good"):
        classifier.score(TEXTS, [1, 0, 1, 0, 1])


def test_a_table_is_not_answered_by_its_header(folder: Path) -> None:
    classifier = EarlyExitClassifier.from_pretrained(folder)
    with pytest.raises(ExitwiseError, match="one column of a table"):
        classifier.predict({"text": TEXTS})


def test_an_engine_of_another_name_is_refused(folder: Path) -> None:
    message = "engine must be one of auto, torch, onnx, found 'tensorrt'"
    with pytest.raises(ExitwiseError, match=message):
        load_engine(folder, "tensorrt", None)
    with pytest.raises(ExitwiseError, match="dtype must be one of float32, bfloat16, float16"):
        load_engine(folder, "torch", None, "int4")


def test_the_threads_of_pytorch_are_not_chosen_here(folder: Path) -> None:
    with pytest.raises(ExitwiseError, match=r"is not exported, .* PyTorch's is OMP_NUM_THREADS"):
        EarlyExitClassifier.from_pretrained(folder, num_threads=1)


def test_before_fit_it_says_what_to_do() -> None:
    with pytest.raises(ExitwiseError, match="call fit or from_pretrained"):
        EarlyExitClassifier().predict(TEXTS)


def test_fit_trains_calibrates_and_keeps_nothing_on_the_disk(
    folder: Path,
    tmp_path: Path,
    save_encoder: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    words = {1: ("good", "great", "warm"), 0: ("bad", "dull", "cold")}
    texts = [f"the {a} film was {b}" for word in words.values() for a in word for b in word] * 6
    labels = [label for label in words for _ in range(9)] * 6
    quick = ("regime.backbone.epochs=1", "regime.exits.epochs=1", "training.micro_batch=20")
    overrides = (*quick, "training.accumulation=1", "training.precision=fp32")
    classifier = EarlyExitClassifier(save_encoder(), max_drop=5.0, overrides=overrides)
    assert classifier.fit(texts, labels) is classifier
    assert classifier.classes_.tolist() == [0, 1]
    found = classifier.predict(texts)
    assert set(found.tolist()) <= {0, 1}
    assert accuracy_score(labels, found) == classifier.score(texts, labels)
    assert get_scorer("accuracy")(classifier, texts, labels) == classifier.score(texts, labels)
    assert isinstance(classifier.policy, ConfidencePolicy)
    assert len(classifier.predict(TEXTS)) == len(TEXTS)
    assert list((tmp_path / "temporary").iterdir()) == []


@pytest.mark.parametrize(
    ("texts", "labels", "pairs", "message"),
    [
        (["good"], [1, 0], None, "must be as many, found 1 of text, 2 of label"),
        (["good", "bad"], [1, 0], ["well"], "found 2 of text, 1 of pair, 2 of label"),
        (["good", 2], [1, 0], None, "text 2 must be a string, found 2"),
        (["good", "bad"], [1, 0], None, "too few texts to hold back a share"),
        (["good", "bad"] * 45, [1, 0] * 45, None, "at least 20 labelled rows, found 18"),
    ],
)
def test_what_cannot_be_fitted_is_refused(
    texts: Any, labels: Any, pairs: Any, message: str
) -> None:
    with pytest.raises(ExitwiseError, match=message):
        EarlyExitClassifier("nowhere").fit(texts, labels, pairs)


def test_parameters_are_read_and_set_as_in_scikit_learn() -> None:
    from sklearn.base import clone, is_classifier

    classifier = EarlyExitClassifier("encoder", max_drop=2.0)
    assert clone(classifier).get_params() == classifier.get_params()
    assert is_classifier(classifier) and not hasattr(classifier, "classes_")
    assert classifier.set_params(seed=7).seed == 7
    with pytest.raises(ValueError, match="no parameter 'depth'"):
        classifier.set_params(depth=7)


def test_the_hub_gets_what_save_writes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uploads: list[dict[str, Any]] = []

    class Hub:
        def create_repo(self, repo_id: str, **settings: Any) -> None:
            uploads.append({"created": repo_id})

        def upload_folder(self, *, folder_path: str, repo_id: str, **settings: Any) -> str:
            files = {path.name for path in Path(folder_path).iterdir()}
            policy = json.loads((Path(folder_path) / "policy.json").read_text())
            uploads.append({"files": files, "kind": policy["policy"]["kind"]})
            return f"hub/{repo_id}"

    monkeypatch.setattr("huggingface_hub.HfApi", Hub)
    policy = ConfidencePolicy(threshold=0.9)
    classifier = EarlyExitClassifier.from_pretrained(folder, policy=policy)
    assert classifier.push_to_hub("me/films") == "hub/me/films"
    created, uploaded = uploads
    assert created == {"created": "me/films"}
    assert uploaded["kind"] == "confidence"
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= uploaded["files"]


def test_a_repository_of_the_hub_answers_as_the_folder_that_it_holds(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_policy(folder, VotePolicy(votes=2))
    asked = []

    def download(name: str, **settings: Any) -> str:
        asked.append(name)
        return str(folder)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    here, there = (EarlyExitClassifier.from_pretrained(name) for name in (folder, "org/films"))
    assert asked == ["org/films"]
    assert there.policy == here.policy == VotePolicy(votes=2)
    assert there.answers(TEXTS).layers.tolist() == here.answers(TEXTS).layers.tolist()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("/nowhere/run", "/nowhere/run does not exist: name a run"),
        ("a/b/c", "a/b/c does not exist"),
        ("org/films", "no folder org/films, and the hub gave no repository of that name"),
    ],
)
def test_a_model_that_is_nowhere_is_named(
    name: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(name: str, **settings: Any) -> str:
        huggingface_hub.utils.validate_repo_id(name)
        raise huggingface_hub.errors.LocalEntryNotFoundError("offline")

    monkeypatch.setattr("huggingface_hub.snapshot_download", unreachable)
    with pytest.raises(ExitwiseError, match=message):
        EarlyExitClassifier.from_pretrained(name)
