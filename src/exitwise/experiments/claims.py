"""Claims of the paper (being written)."""

from abc import ABC
from dataclasses import dataclass
from typing import ClassVar

from exitwise.registry import Registry


@dataclass(frozen=True, kw_only=True)
class Claim(ABC):  # noqa: B024
    """A claim."""

    registry: ClassVar[Registry["Claim"]] = Registry("claim", suffix="Claim")
