"""ALT."""

import pytest

from exitwise.regimes import AlternatingRegime

ALL = tuple(range(1, 5))


@pytest.mark.parametrize("unit", ["epoch", "step"])
def test_alternating_starts_with_the_last_exit(unit: str) -> None:
    (stage,) = AlternatingRegime(unit=unit).stages(4)
    turns = [
        stage.layers_at(
            epoch=turn if unit == "epoch" else 0, step=turn if unit == "step" else 5 * turn
        )
        for turn in range(4)
    ]
    assert turns == [(4,), ALL, (4,), ALL]
