import pytest
from hypothesis import given
from hypothesis import strategies as st

from exitwise.data.split import shares, split_off, stratified_sample
from exitwise.data.texts import TextDataset
from exitwise.errors import DataError


def numbered(*labels: int) -> TextDataset:
    texts = tuple(f"text {row}" for row in range(len(labels)))
    return TextDataset(texts=texts, pairs=None, labels=labels, source="numbers")


UNEVEN = numbered(*[0] * 60, *[1] * 30, *[2] * 9, 3)


def counts(texts: TextDataset) -> list[int]:
    return [texts.labels.count(label) for label in range(4)]


def test_a_sample_has_every_class_with_its_share_in_the_former_order() -> None:
    sample = stratified_sample(UNEVEN, 20, seed=1)
    assert counts(sample) == [12, 6, 1, 1]
    rows = [int(text.split()[1]) for text in sample.texts]
    assert rows == sorted(set(rows))
    assert [UNEVEN.labels[row] for row in rows] == list(sample.labels)
    assert sample.source == "numbers (20 of 100 rows, seed 1)"


def test_a_sample_depends_on_the_seed_alone() -> None:
    assert stratified_sample(UNEVEN, 20, seed=1) == stratified_sample(UNEVEN, 20, seed=1)
    one, two = (stratified_sample(UNEVEN, 20, seed=seed).texts for seed in (1, 2))
    assert one != two


def test_a_sample_of_more_rows_than_there_are_is_the_whole() -> None:
    assert stratified_sample(UNEVEN, 100, seed=1) is UNEVEN


def test_validation_rows_are_split_off_and_every_class_stays_in_training() -> None:
    train, validation = split_off(UNEVEN, 0.1, seed=1)
    assert sorted(train.texts + validation.texts) == sorted(UNEVEN.texts)
    assert counts(validation) == [6, 3, 1, 0]
    assert validation.source == "numbers (10 rows split off, seed 1)"
    assert split_off(UNEVEN, 0.1, seed=1)[1] == validation
    assert split_off(UNEVEN, 0.1, seed=2)[1] != validation


def test_at_least_one_row_is_split_off() -> None:
    assert len(split_off(numbered(0, 0, 1), 0.01, seed=1)[1]) == 1


def test_too_few_rows_for_all_classes_are_refused() -> None:
    with pytest.raises(DataError, match="numbers: training on 2 of 100 rows cannot show 4 classes"):
        stratified_sample(UNEVEN, 2, seed=1)
    with pytest.raises(DataError, match="a validation set of its own"):
        split_off(numbered(0, 1), 0.1, seed=1)


@given(st.lists(st.integers(1, 50), min_size=1, max_size=8), st.data())
def test_shares_are_whole_near_the_quota_and_within_each_class(
    sizes: list[int], data: st.DataObject
) -> None:
    total = data.draw(st.integers(len(sizes), sum(sizes)))
    found = shares(sizes, total)
    assert sum(found) == total
    assert all(1 <= share <= size for share, size in zip(found, sizes, strict=True))
    if min(sizes) * total >= sum(sizes):  # no class needs a place more than its quota
        quotas = [size * total / sum(sizes) for size in sizes]
        assert all(abs(share - q) < 1 for share, q in zip(found, quotas, strict=True))
