"""An oracle in plain loops over Python numbers, and the tolerances of the reference values."""

import math
from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor

Vector = Sequence[float]
Oracle = Callable[..., list[float]]


def _unit(vector: Vector) -> list[float]:
    length = math.sqrt(math.fsum(x * x for x in vector))
    return [0.0 if length <= 1e-12 else x / length for x in vector]


def _terms(
    items: Sequence[Vector],
    labels: Sequence[int],
    *,
    temperature: float,
    denominator: str,
    normalize: bool = True,
) -> list[float]:
    vectors = [_unit(item) if normalize else list(item) for item in items]
    terms = []
    for a, anchor in enumerate(vectors):
        similarity = [sum(x * y for x, y in zip(anchor, v, strict=True)) for v in vectors]
        similarity = [value / temperature for value in similarity]
        counted = [k for k in range(len(vectors)) if denominator == "paper" or k != a]
        positives = [p for p in range(len(vectors)) if p != a and labels[p] == labels[a]]
        term = 0.0
        for p in positives:
            largest = max(similarity[k] for k in counted)
            total = math.fsum(math.exp(similarity[k] - largest) for k in counted)
            term -= similarity[p] - largest - math.log(total)
        terms.append(term / len(positives) if positives else 0.0)
    return terms


@pytest.fixture(scope="session")
def loop_terms() -> Oracle:
    """The term of each item as an anchor; the code shares no line with the library."""
    return _terms


def _assert_equals_reference(
    found: Tensor, expected: list[list[float]], *, is_relative: bool = False
) -> None:
    tolerances = {torch.float64: (1e-7, 1e-9), torch.float32: (1e-4, 1e-5)}
    rtol, atol = tolerances[found.dtype]
    target = torch.tensor(expected, dtype=found.dtype)
    if is_relative:
        atol = rtol * target.abs().max().item()
    torch.testing.assert_close(found, target, rtol=rtol, atol=atol)


@pytest.fixture(scope="session")
def assert_equals_reference() -> Callable[..., None]:
    """At the tolerance of the precision; small gradients relative to their largest entry."""
    return _assert_equals_reference
