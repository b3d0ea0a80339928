"""What logs say of the embeddings of a batch."""

import math

import pytest
import torch

from exitwise.losses import (
    compared_rows,
    geometry,
    has_positive,
    supervised_contrastive_loss,
)
from exitwise.losses.diagnostics import MAX_COMPARED


def test_a_square_gives_values_computed_by_hand() -> None:
    embeddings = torch.tensor([[2.0, 0.0], [0.0, 3.0], [-1.0, 0.0], [0.0, -1.0]])
    found = geometry(embeddings, torch.tensor([0, 0, 1, 1]))
    assert found.positive_similarity.item() == pytest.approx(0.0)
    assert found.negative_similarity.item() == pytest.approx(-0.5)  # two right, two straight angles
    assert found.alignment.item() == pytest.approx(2.0)
    uniformity = math.log((8 * math.exp(-4) + 4 * math.exp(-8)) / 12)
    assert found.uniformity.item() == pytest.approx(uniformity, rel=1e-5)


@pytest.mark.field_case(31)
def test_nearly_equal_embeddings_of_different_labels_are_a_collapse() -> None:
    labels = torch.arange(8) % 2
    spread = torch.randn(8, 16)
    collapsed = torch.ones(8, 16) + 0.01 * torch.randn(8, 16)
    assert not geometry(spread, labels).is_collapsed()
    assert geometry(collapsed, labels).is_collapsed()
    assert geometry(collapsed, labels).uniformity > geometry(spread, labels).uniformity


@pytest.mark.field_case(31)
def test_well_separated_classes_are_no_collapse() -> None:
    labels = torch.arange(8) % 2
    sides = torch.where(labels[:, None] == 0, 1.0, -1.0) * torch.ones(8, 4)
    found = geometry(sides, labels)
    assert not found.is_collapsed()
    assert found.alignment.item() == pytest.approx(0.0, abs=1e-5)


def test_a_kind_of_pair_that_is_missing_gives_nan_and_no_collapse() -> None:
    found = geometry(torch.ones(3, 4), torch.zeros(3, dtype=torch.long))
    assert found.negative_similarity.isnan()
    assert not found.is_collapsed()
    single = geometry(torch.ones(1, 4), torch.zeros(1, dtype=torch.long))
    assert all(value.isnan() for value in single)


def test_diagnostics_are_outside_the_graph() -> None:
    embeddings = torch.randn(4, 3, requires_grad=True)
    assert not geometry(embeddings, torch.tensor([0, 0, 1, 1])).alignment.requires_grad


@pytest.mark.field_case(24)
@pytest.mark.parametrize("labels", [[0], [0, 1], [0, 1, 0], [2, 2]])
def test_batches_without_a_positive_can_be_counted(labels: list[int]) -> None:
    loss = supervised_contrastive_loss(torch.randn(len(labels), 3), torch.tensor(labels))
    assert has_positive(torch.tensor(labels)).item() == (loss.item() > 0)


def test_of_a_large_set_so_many_labelled_rows_are_compared_each_once() -> None:
    labels = torch.arange(4 * MAX_COMPARED) % 3 - 1  # a third has no label
    rows = compared_rows(labels)
    assert len(rows) == len(rows.unique()) == MAX_COMPARED
    assert (labels[rows] >= 0).all()
    assert rows.equal(rows.sort().values)
    assert rows[-1] - rows[0] > 3.9 * MAX_COMPARED  # not those at the beginning alone


def test_the_compared_rows_depend_on_the_seed_alone() -> None:
    labels = torch.zeros(2 * MAX_COMPARED, dtype=torch.long)
    first = compared_rows(labels)
    state = torch.get_rng_state()
    torch.rand(7)
    assert compared_rows(labels).equal(first)
    torch.set_rng_state(state)
    compared_rows(labels, seed=1)
    assert torch.get_rng_state().equal(state)
    assert not compared_rows(labels, seed=1).equal(first)


def test_all_labelled_rows_of_a_small_set_are_compared() -> None:
    assert compared_rows(torch.tensor([1, -1, 0, 2, -1])).tolist() == [0, 2, 3]
    assert compared_rows(torch.tensor([-1, -1])).tolist() == []
