"""Routing: every row leaves alone, later layers never see it, and nothing else changes."""

import hashlib
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exitwise.errors import ExitwiseError
from exitwise.inference import Answers, EarlyExit, replay
from exitwise.inference.torch_engine import TorchEngine
from exitwise.policies import (
    ConfidencePolicy,
    EntropyPolicy,
    ExitPolicy,
    FixedPolicy,
    MarginPolicy,
    PatiencePolicy,
    PatientConfidencePolicy,
    VotePolicy,
)

MakeEngine = Callable[..., TorchEngine]
POLICIES = [
    ConfidencePolicy(threshold=0.8),
    ConfidencePolicy(threshold={1: 0.9, 2: None}, temperatures={1: 2.0}),
    EntropyPolicy(threshold=0.4),
    MarginPolicy(threshold=0.6),
    PatiencePolicy(patience=1),
    PatientConfidencePolicy(patience=2, threshold=0.6),
    VotePolicy(votes=2),
    FixedPolicy(layer=2),
]
BATCHES = [1, 2, 7, 32]


def names(policy: ExitPolicy) -> str:
    return type(policy).__name__


def assert_same(one: Answers, other: Answers) -> None:
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_array_equal(one.layers, other.layers)
    np.testing.assert_allclose(one.probabilities, other.probabilities, atol=1e-6)
    np.testing.assert_allclose(one.logits, other.logits, rtol=1e-6, atol=1e-6)


@pytest.mark.field_case(1)
@pytest.mark.parametrize("policy", POLICIES, ids=names)
def test_any_batch_size_gives_the_answers_of_the_replay(
    policy: ExitPolicy, make_engine: MakeEngine, texts: list[str]
) -> None:
    engine = make_engine()
    expected = replay(policy, engine.logits(texts), engine.exit_layers)
    for size in BATCHES:
        assert_same(EarlyExit(engine, policy, batch_size=size)(texts), expected)
    if not isinstance(policy, FixedPolicy):
        assert len(set(expected.layers)) > 1  # a test where all leave at once shows nothing


@pytest.mark.field_case(1)
@pytest.mark.parametrize(
    "model_type", ["roberta", "distilbert", "mpnet", "deberta-v2", "modernbert", "albert"]
)
def test_every_family_can_lose_and_join_rows(
    model_type: str, make_engine: MakeEngine, texts: list[str]
) -> None:
    engine = make_engine(model_type)
    policy = ConfidencePolicy(threshold=0.7)
    expected = replay(policy, engine.logits(texts), engine.exit_layers)
    assert len(set(expected.layers)) > 1
    for size in BATCHES:
        assert_same(EarlyExit(engine, policy, batch_size=size)(texts), expected)


def test_pairs_are_answered_like_texts(make_engine: MakeEngine, texts: list[str]) -> None:
    engine, policy = make_engine(), ConfidencePolicy(threshold=0.7)
    pairs = texts[::-1]
    expected = replay(policy, engine.logits(texts, pairs), engine.exit_layers)
    assert_same(EarlyExit(engine, policy, batch_size=7)(texts, pairs), expected)


@pytest.mark.field_case(2)
def test_a_layer_sees_the_rows_that_still_run_and_no_others(
    make_engine: MakeEngine, texts: list[str]
) -> None:
    engine, policy = make_engine(), ConfidencePolicy(threshold=0.8)
    seen: Counter[int] = Counter()
    for number, layer in enumerate(engine.model.encoder.encoder.layer, start=1):
        layer.register_forward_pre_hook(
            lambda _, inputs, number=number: seen.update({number: len(inputs[0])})
        )
    answers = EarlyExit(engine, policy, batch_size=8)(texts)
    expected = {layer: int((answers.layers >= layer).sum()) for layer in (1, 2, 3)}
    assert expected[1] > expected[2] > expected[3] > 0
    assert seen == expected


@pytest.mark.field_case(3)
@pytest.mark.parametrize("batch_size", [1, 8, 40])
def test_with_nobody_leaving_no_row_is_regrouped_and_no_work_grows_with_the_rows(
    make_engine: MakeEngine,
    texts: list[str],
    monkeypatch: pytest.MonkeyPatch,
    batch_size: int,
) -> None:
    engine = make_engine()
    calls: Counter[str] = Counter()
    for name in ("start", "run", "keep", "join"):
        whole = getattr(engine, name)

        def counted(*args: object, name: str = name, whole: Callable = whole, **kwargs: object):  # noqa: ANN202
            calls[name] += 1
            return whole(*args, **kwargs)

        monkeypatch.setattr(engine, name, counted)
    answers = EarlyExit(engine, ConfidencePolicy(threshold=None), batch_size=batch_size)(texts)
    assert set(answers.layers) == {3}
    batches = len(texts) // batch_size
    assert calls == {"start": batches, "run": 3 * batches}


@pytest.mark.field_case(10)
@pytest.mark.field_case(20)
def test_layers_after_the_last_running_row_are_not_run(
    make_engine: MakeEngine, texts: list[str]
) -> None:
    engine = make_engine()
    calls: Counter[int] = Counter()
    for number, layer in enumerate(engine.model.encoder.encoder.layer, start=1):
        layer.register_forward_pre_hook(lambda *_, number=number: calls.update([number]))
    EarlyExit(engine, FixedPolicy(layer=2), batch_size=100)(texts)
    assert calls == {1: 1, 2: 1}
    EarlyExit(engine, FixedPolicy(layer=2), layers=[2], batch_size=100)(texts)
    assert calls == {1: 2, 2: 2}


def test_exits_that_are_switched_off_are_not_asked(
    make_engine: MakeEngine, texts: list[str]
) -> None:
    engine = make_engine()
    answers = EarlyExit(engine, ConfidencePolicy(threshold=None), layers=[1, 3])(texts)
    everything = engine.logits(texts)
    np.testing.assert_allclose(answers.logits, everything[[0, 2]], rtol=1e-6, atol=1e-6)
    assert set(answers.layers) == {3}


@pytest.mark.field_case(9)
def test_answering_changes_no_parameter(make_engine: MakeEngine, texts: list[str]) -> None:
    engine = make_engine()

    def fingerprint() -> str:
        tensors = engine.model.state_dict().values()
        data = b"".join(tensor.numpy().tobytes() for tensor in tensors)
        return hashlib.sha256(data).hexdigest()

    before = fingerprint()
    EarlyExit(engine, ConfidencePolicy(threshold=0.7))(texts)
    assert fingerprint() == before


def test_threads_share_an_engine(make_engine: MakeEngine, texts: list[str]) -> None:
    early_exit = EarlyExit(make_engine(), ConfidencePolicy(threshold=0.8), batch_size=4)
    asked = [texts[:25], texts[15:], texts[::-1], texts[3:7]]
    expected = [early_exit(each) for each in asked]
    with ThreadPoolExecutor(4) as threads:
        for found, answers in zip(threads.map(early_exit, asked), expected, strict=True):
            assert_same(found, answers)


def test_bfloat16_gives_answers_of_finite_probability(
    make_engine: MakeEngine, texts: list[str]
) -> None:
    exact = make_engine()
    exact.model.float()
    rounded = TorchEngine(exact.model, exact.tokenizer, dtype=torch.bfloat16)
    found = EarlyExit(rounded, ConfidencePolicy(threshold=0.8), batch_size=7)(texts)
    assert np.isfinite(found.probabilities).all()
    agreement = found.labels == EarlyExit(exact, ConfidencePolicy(threshold=0.8))(texts).labels
    assert agreement.mean() > 0.8


def test_no_texts_have_no_answers(make_engine: MakeEngine) -> None:
    answers = EarlyExit(make_engine(), ConfidencePolicy(threshold=0.8))([])
    assert [len(part) for part in answers] == [0, 0, 0, 3]


def test_a_huge_text_is_cut_and_answered(
    make_engine: MakeEngine, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO"):
        answers = EarlyExit(make_engine(), ConfidencePolicy(threshold=0.8))(["good " * 10_000])
    assert answers.layers[0] in (1, 2, 3)
    assert "1 of 1 texts are longer than 64 tokens and were cut" in caplog.text


def test_a_policy_for_other_exits_is_refused(make_engine: MakeEngine) -> None:
    with pytest.raises(ExitwiseError, match=r"thresholds for the layers 4.*exits at 1, 2, 3"):
        EarlyExit(make_engine(), ConfidencePolicy(threshold={1: 0.8, 4: 0.8}))
    with pytest.raises(ExitwiseError, match=r"from 0\.3333 to 1"):
        EarlyExit(make_engine(), ConfidencePolicy(threshold=0.2))
    with pytest.raises(ExitwiseError, match="no exit at layer 5: the model has exits at 1, 2, 3"):
        EarlyExit(make_engine(), ConfidencePolicy(threshold=0.8), layers=[1, 5])


def test_survivors_of_several_batches_run_as_full_batches(stored: Callable[..., object]) -> None:
    logits = np.zeros((3, 16, 2))
    logits[0, ::2] = [0, 9]  # half of each batch is sure at once
    engine = stored(logits, (1, 2, 3))
    early_exit = EarlyExit(engine, ConfidencePolicy(threshold=0.9), batch_size=4)
    answers = early_exit([str(i) for i in range(16)])
    assert [len(rows) for layer, rows in engine.runs if layer == 1] == [4] * 4
    assert [len(rows) for layer, rows in engine.runs if layer > 1] == [4] * 4
    assert answers.histogram((1, 2, 3)) == {1: 8, 2: 0, 3: 8}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.data())
def test_routing_is_what_a_loop_over_rows_does(
    stored: Callable[..., object], data: st.DataObject
) -> None:
    shape = data.draw(st.tuples(st.integers(1, 4), st.integers(0, 25), st.integers(2, 4)))
    seed = data.draw(st.integers(0, 1000))
    logits = np.random.default_rng(seed).normal(scale=2, size=shape).astype(np.float32)
    layers = tuple(range(2, 2 + 2 * shape[0], 2))
    policy = data.draw(st.sampled_from([each for each in POLICIES if fits(each, layers)]))
    size = data.draw(st.integers(1, 9))
    engine = stored(logits, layers)
    answers = EarlyExit(engine, policy, batch_size=size)([str(i) for i in range(shape[1])])
    for row in range(shape[1]):
        for depth, layer in enumerate(layers):
            seen = logits[: depth + 1, row : row + 1]
            found = policy.decide(seen, layers[: depth + 1])
            if found.stop[0] or layer == layers[-1]:
                assert answers.layers[row] == layer
                assert answers.labels[row] == found.label[0]
                np.testing.assert_allclose(answers.probabilities[row], found.probabilities[0])
                assert np.isfinite(answers.logits[: depth + 1, row]).all()
                assert np.isnan(answers.logits[depth + 1 :, row]).all()
                break
    assert all(len(rows) <= size for _, rows in engine.runs)
    assert_same(answers, replay(policy, logits, layers))


def fits(policy: ExitPolicy, layers: tuple[int, ...]) -> bool:
    try:
        policy.check(layers=layers, num_labels=2)
    except ExitwiseError:
        return False
    return True
