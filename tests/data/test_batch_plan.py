from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exitwise.data.batch_plan import BatchPlan, batch_plan


def test_glue_tasks_have_the_reference_plan(reference_values: dict[str, Any]) -> None:
    tasks = reference_values["batch_plan"]["tasks"]
    assert len(tasks) == 7
    for expected in tasks.values():
        plan = batch_plan(expected["n_train"])
        assert plan.micro_batch == expected["micro_batch"]
        assert plan.accumulation == expected["accumulation"]
        assert plan.updates_per_epoch == expected["updates_per_epoch"]


@given(st.integers(min_value=1, max_value=2_000_000))
def test_a_micro_batch_has_1_to_32_rows(num_rows: int) -> None:
    assert 1 <= batch_plan(num_rows).micro_batch <= 32


@given(st.integers(min_value=2_000, max_value=2_000_000))
def test_an_epoch_has_about_200_updates(num_rows: int) -> None:
    assert 190 <= batch_plan(num_rows).updates_per_epoch <= 212


@pytest.mark.parametrize("num_rows", [1, 99, 100, 199, 299])
def test_fewer_than_300_rows_go_one_by_one(num_rows: int) -> None:
    plan = batch_plan(num_rows)
    assert (plan.micro_batch, plan.accumulation) == (1, 1)
    assert plan.updates_per_epoch == num_rows


def test_32_rows_an_update_are_one_micro_batch_and_one_row_more_is_two() -> None:
    assert batch_plan(6_400) == BatchPlan(micro_batch=32, accumulation=1, num_rows=6_400)
    assert batch_plan(6_401) == BatchPlan(micro_batch=16, accumulation=2, num_rows=6_401)


def test_a_chosen_micro_batch_keeps_the_number_of_updates() -> None:
    plan = batch_plan(3_668, micro_batch=6)
    assert (plan.micro_batch, plan.accumulation) == (6, 3)
    assert batch_plan(3_668, micro_batch=64).accumulation == 1


def test_a_chosen_accumulation_keeps_the_number_of_updates() -> None:
    plan = batch_plan(3_668, accumulation=3)
    assert (plan.micro_batch, plan.accumulation) == (6, 3)
    assert batch_plan(67_349, accumulation=1).micro_batch == 32


def test_both_may_be_chosen() -> None:
    plan = batch_plan(10, micro_batch=4, accumulation=2)
    assert plan == BatchPlan(micro_batch=4, accumulation=2, num_rows=10)
    assert plan.updates_per_epoch == 2  # micro-batches of 4, 4 and 2 rows


@pytest.mark.parametrize(
    ("num_rows", "micro_batch", "accumulation", "message"),
    [
        (0, None, None, "num_rows must be at least 1, found 0"),
        (0, 8, 1, "num_rows must be at least 1, found 0"),
        (9, 0, None, "micro_batch must be at least 1, found 0"),
        (9, None, 0, "accumulation must be at least 1, found 0"),
    ],
)
def test_nothing_may_be_zero(
    num_rows: int, micro_batch: int | None, accumulation: int | None, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        batch_plan(num_rows, micro_batch=micro_batch, accumulation=accumulation)
