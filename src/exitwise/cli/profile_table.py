"""Where the time of a run went, as a table."""

from collections.abc import Mapping

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table


def print_profile(profile: Mapping[str, Mapping[str, float]]) -> None:
    """Prints the seconds of each part of each stage, and their share of the stage."""
    table = Table("stage", "part", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("seconds", justify="right")
    table.add_column("share", justify="right")
    for stage, parts in profile.items():
        total = sum(parts.values())
        for part, seconds in parts.items():
            table.add_row(stage, part, f"{seconds:.1f}", f"{seconds / total:.0%}")
        table.add_row(stage, "all", f"{total:.1f}", "", style="bold", end_section=True)
    Console(markup=False, highlight=False, soft_wrap=True).print(table)
