"""Tests of exitwise.compression.taught."""

from typing import Any

import pytest

from exitwise.compression import with_layers
from exitwise.compression.layerwise_distillation import AnsweringStudent


def test_the_teacher_stays_in_evaluation_mode(make_model: Any) -> None:
    model = make_model()
    taught = AnsweringStudent(with_layers(model.train(), (2, 4)), model, temperature=1.0)
    taught.train()
    assert taught.student.training and all(each.training for each in taught.student.modules())
    assert not any(each.training for each in taught.teacher.modules())


@pytest.mark.parametrize("frozen_before", [False, True])  # as after a stage of exits
def test_the_student_is_trained_whole_and_nothing_else(
    make_model: Any, frozen_before: bool
) -> None:
    model = make_model().requires_grad_(not frozen_before)
    taught = AnsweringStudent(with_layers(model, (2, 4)), model, temperature=1.0)
    assert all(each.requires_grad for each in taught.student.parameters())
    assert not any(each.requires_grad for each in taught.teacher.parameters())
