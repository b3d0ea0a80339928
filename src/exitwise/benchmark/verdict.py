"""What to deploy, in words."""

from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]

FULL_LAYER_SHARE = 0.995


def verdict(systems: Sequence[Row], batch_size: str) -> str:
    """Which system to use at a batch size: the fastest of those that are as good as early exit.

    A plain model of k layers is as good if its score is not below that of early exit. Compared
    are the systems of the fastest engine, since nobody deploys another.

    Args:
        systems: as `compare` reports them.
        batch_size: which of their times counts.
    """
    early = min(
        (each for each in systems if each["kind"] == "early exit"),
        key=lambda each: _time(each, batch_size),
    )
    rivals = [
        each for each in systems if each["kind"] == "plain" and each["engine"] == early["engine"]
    ]
    whole = rivals[-1]
    best = fastest_as_good(rivals, early, batch_size)
    factor = _time(whole, batch_size) / _time(early, batch_size)
    drop = whole["score"] - early["score"]
    cost = f"{drop:.2f} points below" if drop > 0 else f"{-drop:.2f} points above"
    told = f"early exit takes {factor:.2f}x less time than the whole model and is {cost} it"
    notes = []
    if early["share_at_last"] > FULL_LAYER_SHARE:
        notes.append(
            "nearly every text runs to the last layer: calibrate with a larger --max-drop, "
            "or train the exits longer"
        )
    if best is not None and _time(best, batch_size) <= _time(early, batch_size):
        ratio = _time(early, batch_size) / _time(best, batch_size)
        what = "the whole model" if best is whole else f"the static {best['layer']}-layer model"
        advice = (
            f"use {what}: it scores {best['score']:.2f} against {early['score']:.2f} "
            f"and is {ratio:.2f}x as fast as early exit"
        )
        if factor < 1:
            told = f"early exit takes {1 / factor:.2f}x MORE time than the whole model"
        return "; ".join([advice, told, *notes])
    advice = f"use early exit: {told}"
    if best is not None and best is not whole:
        ratio = _time(best, batch_size) / _time(early, batch_size)
        advice += f"; the static {best['layer']}-layer model, as good, takes {ratio:.2f}x as long"
    elif best is None:
        advice += "; no static model, not even the whole one, scores as high"
    return "; ".join([advice, *notes])


def fastest_as_good(plain: Sequence[Row], early: Row, batch_size: str) -> Row | None:
    """The fastest of the plain models that score at least as early exit; `None` if none does."""
    as_good = [each for each in plain if each["score"] >= early["score"]]
    return min(as_good, key=lambda each: _time(each, batch_size), default=None)


def _time(system: Row, batch_size: str) -> float:
    return float(system["times"][batch_size]["ms_per_text"])
