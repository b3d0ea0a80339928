"""Bounds of settings: what lies outside is refused by name."""


def check_positive(settings: object, *names: str) -> None:
    """Refuses settings that are not above 0; one that is `None` is not given.

    >>> from types import SimpleNamespace
    >>> check_positive(SimpleNamespace(weight=-0.5), "weight")
    Traceback (most recent call last):
    ...
    ValueError: weight must be positive, found -0.5
    """
    for name in names:
        value = getattr(settings, name)
        if value is not None and not value > 0:
            raise ValueError(f"{name} must be positive, found {value}")


def check_at_least(least: int, settings: object, *names: str) -> None:
    """Refuses settings that are below the least; one that is `None` is not given."""
    for name in names:
        value = getattr(settings, name)
        if value is not None and not value >= least:
            raise ValueError(f"{name} must be at least {least}, found {value}")
