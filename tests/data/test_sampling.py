from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import DataLoader

from exitwise.data import ClassBalancedSampler, LengthBucketSampler, class_weights

LENGTHS = np.random.default_rng(0).lognormal(3, 0.6, size=1_003).astype(int).clip(3, 128).tolist()


def batches(order: Iterable[int], batch_size: int) -> list[list[int]]:
    rows = list(order)
    return [rows[start : start + batch_size] for start in range(0, len(rows), batch_size)]


def share_of_padding(order: Iterable[int], batch_size: int) -> float:
    lengths = [[LENGTHS[row] for row in batch] for batch in batches(order, batch_size)]
    return 1 - sum(LENGTHS) / sum(max(batch) * len(batch) for batch in lengths)


@given(
    lengths=st.lists(st.integers(1, 200), max_size=70),
    batch_size=st.integers(1, 9),
    epoch=st.integers(0, 3),
)
def test_an_epoch_has_every_row_once(lengths: list[int], batch_size: int, epoch: int) -> None:
    sampler = LengthBucketSampler(lengths, batch_size=batch_size, seed=0)
    sampler.set_epoch(epoch)
    assert sorted(sampler) == list(range(len(lengths)))
    assert len(sampler) == len(lengths)


def test_batches_by_length_have_far_less_padding_than_random_ones() -> None:
    at_random = share_of_padding(torch.randperm(len(LENGTHS)).tolist(), 16)
    by_length = share_of_padding(LengthBucketSampler(LENGTHS, batch_size=16, seed=0), 16)
    assert at_random > 0.4
    assert by_length < 0.15


def test_without_noise_batches_are_runs_of_the_sorted_lengths() -> None:
    sampler = LengthBucketSampler(LENGTHS, batch_size=16, seed=0, noise=0.0)
    spans = sorted(
        (min(lengths), max(lengths))
        for lengths in ([LENGTHS[row] for row in batch] for batch in batches(sampler, 16))
    )
    assert all(left[1] <= right[0] for left, right in pairwise(spans))


def test_the_order_is_the_same_for_the_same_seed_and_epoch() -> None:
    first, second = (LengthBucketSampler(LENGTHS, batch_size=16, seed=5) for _ in range(2))
    list(first)  # a resumed run has not gone through the epochs before
    for sampler in (first, second):
        sampler.set_epoch(3)
    torch.manual_seed(1)
    assert list(first) == list(second) == list(first)


def test_epochs_and_seeds_differ_in_order_and_in_batches() -> None:
    sampler = LengthBucketSampler(LENGTHS, batch_size=16, seed=0)
    other = LengthBucketSampler(LENGTHS, batch_size=16, seed=1)
    orders = [list(sampler), list(other)]
    sampler.set_epoch(1)
    orders.append(list(sampler))
    groups = [{frozenset(batch) for batch in batches(order, 16)} for order in orders]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        assert orders[i] != orders[j]
        assert len(groups[i] & groups[j]) < len(groups[i]) / 10


def test_noise_is_what_mixes_rows_of_distinct_lengths() -> None:
    def groups(epoch: int, noise: float) -> set[frozenset[int]]:
        sampler = LengthBucketSampler(range(100, 180), batch_size=8, seed=0, noise=noise)
        sampler.set_epoch(epoch)
        return {frozenset(batch) for batch in batches(sampler, 8)}

    assert groups(0, 0.0) == groups(1, 0.0)
    assert not groups(0, 0.1) & groups(1, 0.1)


def test_batches_come_in_random_order_of_length() -> None:
    order = batches(LengthBucketSampler(LENGTHS, batch_size=16, seed=0), 16)
    means = [np.mean([LENGTHS[row] for row in batch]) for batch in order]
    assert abs(np.corrcoef(means, range(len(means)))[0, 1]) < 0.3


def test_the_short_batch_is_last_and_of_any_length() -> None:
    sampler = LengthBucketSampler(LENGTHS, batch_size=16, seed=0, noise=0.0)
    means = []
    for epoch in range(40):
        sampler.set_epoch(epoch)
        last = [LENGTHS[row] for row in batches(sampler, 16)[-1]]
        assert len(last) == 11
        means.append(np.mean(last))
    low, high = np.quantile(LENGTHS, [0.25, 0.75])
    assert min(means) < low
    assert max(means) > high


def test_a_loader_of_the_same_batch_size_keeps_the_batches() -> None:
    sampler = LengthBucketSampler(LENGTHS, batch_size=16, seed=0)
    loader = DataLoader(range(len(LENGTHS)), batch_size=16, sampler=sampler)  # type: ignore[arg-type]
    assert [batch.tolist() for batch in loader] == batches(sampler, 16)


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"batch_size": 0}, "batch_size must be"), ({"batch_size": 2, "noise": 1.0}, "noise must be")],
)
def test_senseless_settings_are_refused(settings: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LengthBucketSampler([1, 2], seed=0, **settings)


@pytest.mark.field_case(32)
@given(
    labels=st.lists(st.integers(0, 3), max_size=60),
    epoch=st.integers(0, 3),
)
def test_an_epoch_has_each_class_equally_often(labels: list[int], epoch: int) -> None:
    sampler = ClassBalancedSampler(labels, seed=0)
    sampler.set_epoch(epoch)
    order = list(sampler)
    assert len(order) == len(sampler) == len(labels)
    per_class = Counter(labels[row] for row in order)
    if labels:
        assert max(per_class.values()) - min(per_class.values()) <= 1


@pytest.mark.field_case(32)
def test_a_rare_class_repeats_its_rows_evenly_and_a_frequent_one_none() -> None:
    labels = [0] * 90 + [1] * 10
    for epoch in range(3):
        sampler = ClassBalancedSampler(labels, seed=0)
        sampler.set_epoch(epoch)
        times = Counter(sampler)
        assert {times[row] for row in range(90)} == {0, 1}
        assert [times[row] for row in range(90, 100)] == [5] * 10


def test_a_frequent_class_gives_other_rows_in_another_epoch() -> None:
    sampler = ClassBalancedSampler([0] * 90 + [1] * 10, seed=0)
    seen = set(sampler)
    for epoch in range(1, 8):
        sampler.set_epoch(epoch)
        seen |= set(sampler)
    assert len(seen) > 95


def test_classes_are_mixed() -> None:
    labels = [0] * 90 + [1] * 10
    drawn = [labels[row] for row in ClassBalancedSampler(labels, seed=0)]
    changes = sum(left != right for left, right in pairwise(drawn))
    assert 30 < changes < 70


def test_the_balanced_order_is_the_same_for_the_same_seed_and_epoch() -> None:
    labels = [0, 1, 1, 1, 2, 2] * 5
    first, second = (ClassBalancedSampler(labels, seed=5) for _ in range(2))
    assert list(first) == list(second)
    second.set_epoch(1)
    assert list(first) != list(second)


def test_unlabelled_rows_cannot_be_balanced() -> None:
    with pytest.raises(ValueError, match="unlabelled"):
        ClassBalancedSampler([0, 1, -1], seed=0)


@pytest.mark.field_case(32)
@given(st.lists(st.integers(0, 2), max_size=40).map(lambda more: [0, 1, 2, *more]))
def test_weights_give_each_class_the_same_sum_and_rows_the_mean_one(labels: list[int]) -> None:
    weights = class_weights(labels, 3)[labels].double()
    sums = torch.zeros(3, dtype=torch.double).index_add_(0, torch.tensor(labels), weights)
    torch.testing.assert_close(weights.mean(), torch.tensor(1.0, dtype=torch.double))
    torch.testing.assert_close(sums, torch.full((3,), len(labels) / 3, dtype=torch.double))


@pytest.mark.parametrize(
    ("labels", "message"),
    [([0, 2, 2], r"found none of \[1\]"), ([0, 1, 2, 3], "below 3, found 3"), ([], "none of")],
)
def test_weights_need_a_row_of_each_class(labels: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        class_weights(labels, 3)
