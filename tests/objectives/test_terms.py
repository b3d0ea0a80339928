"""Terms of several exits are weighted and summed before the backward passes."""

import torch

from exitwise.objectives import Terms


def terms(*values: float | None, has_positive: bool | None = None) -> Terms:
    losses = [None if value is None else torch.tensor(value) for value in values]
    return Terms(*losses, None if has_positive is None else torch.tensor(has_positive))


def test_a_factor_weighs_every_loss_and_nothing_else() -> None:
    scaled = terms(1.0, 2.0, 3.0, has_positive=True).scaled(0.5)
    assert scaled == terms(0.5, 1.0, 1.5, has_positive=True)
    assert terms(1.0).scaled(2.0) == terms(2.0)


def test_the_sum_of_two_exits_is_taken_loss_by_loss() -> None:
    first, second = terms(1.0, 2.0, 3.0, has_positive=False), terms(10.0, 20.0, 30.0)
    assert first.plus(second) == terms(11.0, 22.0, 33.0, has_positive=False)
    assert terms(1.0).plus(terms(2.0)) == terms(3.0)
    assert terms(1.0, 5.0).plus(terms(2.0)) == terms(3.0, 5.0)
