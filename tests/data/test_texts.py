from dataclasses import replace

import pytest

from exitwise.data import TextDataset

TEXTS = TextDataset(texts=("a", "b", "c"), pairs=("d", "e", "f"), labels=(0, 1, -1), source="abc")


def test_rows_are_selected_in_the_order_asked_for() -> None:
    some = TEXTS.select([2, 0], note="two")
    assert (some.texts, some.pairs, some.labels) == (("c", "a"), ("f", "d"), (-1, 0))
    assert some.source == "abc (two)"
    assert len(some) == 2
    assert replace(TEXTS, pairs=None).select([1], note="one").pairs is None


@pytest.mark.parametrize(
    "other",
    [
        replace(TEXTS, texts=("a", "b", "C")),
        replace(TEXTS, texts=("ad", "b", "c"), pairs=("", "e", "f")),
        replace(TEXTS, pairs=None),
        replace(TEXTS, labels=(0, 1, 1)),
        TEXTS.select([1, 0, 2], note="turned"),
        TEXTS.select([0, 1], note="fewer"),
    ],
)
def test_the_fingerprint_tells_sets_apart(other: TextDataset) -> None:
    assert other.fingerprint != TEXTS.fingerprint


def test_the_fingerprint_is_of_the_rows_and_stays() -> None:
    assert replace(TEXTS, source="elsewhere").fingerprint == TEXTS.fingerprint
    assert TEXTS.fingerprint == "ef20efa53a350e6f"  # as in results that are kept


def test_a_row_is_known_again_whatever_its_label_and_place() -> None:
    one, two, _ = TEXTS.row_hashes
    assert one != two
    assert replace(TEXTS, labels=(1, 1, 1)).row_hashes[0] == one
    assert TEXTS.select([1, 0], note="").row_hashes == (two, one)
