from collections.abc import Iterator

import jaxtyping
import pytest


@pytest.fixture
def without_type_checks() -> Iterator[None]:
    """As in use, where annotations are not enforced and a wrong value meets our own check."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)
