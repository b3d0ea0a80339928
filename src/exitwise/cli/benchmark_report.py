"""What a benchmark found, as a table and a verdict for each batch size."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

COLUMNS = ("system", "score", "95 %", "layers", "ms/text", "p50", "p95", "texts/s", "x", "ideal x")


def print_benchmark(result: Mapping[str, Any], path: Path) -> None:
    """Prints a table a batch size, then what to use."""
    console = Console(markup=False, highlight=False, soft_wrap=True)
    for size, advice in result["verdict"].items():
        (first, *_) = result["systems"]
        times = first["times"][size]
        console.print(
            f"{'One text at a time' if size == '1' else f'Batches of {size}'}"
            f" (p50 and p95 in ms a call of {times['texts_per_call']}; "
            f"{times['padded_tokens_per_text']:.1f} tokens a text with padding; tokenizer "
            f"{result['tokenizer_ms_per_text'][size]:.3f} ms a text, included)"
        )
        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        for name in COLUMNS:
            table.add_column(name, justify="left" if name == "system" else "right")
        for each in result["systems"]:
            table.add_row(*cells(each, each["times"][size]))
        console.print(table)
        console.print(f"Verdict: {advice}.\n")
    there, settings = result["environment"], result["settings"]
    console.print(
        f"{result['metric']} on {result['data']['rows']} rows of {result['data']['source']}; "
        f"{settings['tokens_a_text']['mean']:.0f} tokens a text; {there['device']}, "
        f"{there['processor']}, {there['threads']} threads, torch in float32"
    )
    for note in result["notes"]:
        console.print(f"Note: {note}.")
    console.print(f"Stored in {path} and {path.with_suffix('.png').name}")


def cells(system: Mapping[str, Any], times: Mapping[str, Any]) -> list[str]:
    """One line: x is how many times as fast as the whole model on the same engine."""
    low, high = system["interval"]
    return [
        system["name"],
        f"{system['score']:.2f}",
        f"{low:.1f}-{high:.1f}",
        f"{system['mean_layer']:.2f}",
        f"{times['ms_per_text']:.3f}",
        f"{times['p50_ms_per_call']:.2f}",
        f"{times['p95_ms_per_call']:.2f}",
        f"{times['texts_per_second']:.0f}",
        f"{times['speedup']:.2f}",
        f"{times['ideal_speedup']:.2f}",
    ]
