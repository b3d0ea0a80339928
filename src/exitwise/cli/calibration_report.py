"""What a calibration found: as data, and as a table."""

import datetime
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from exitwise.calibration import Calibration
    from exitwise.data import TextDataset


def report_of(
    found: "Calibration", texts: "TextDataset", *, unit: str, notes: Sequence[str]
) -> dict[str, Any]:
    """The numbers, the rows that they come from, and the policy."""
    from exitwise.policies import policy_to_plain

    thresholds = getattr(found.policy, "threshold", None)
    return {
        "policy": policy_to_plain(found.policy),
        "metric": found.metric,
        "full_score": found.full_score,
        "score": found.score,
        "drop": found.drop,
        "cost": found.cost,
        "cost_unit": f"share of the whole model's {unit}",
        "mean_layer": found.mean_layer,
        "exits": {
            str(layer): {
                "rows": count,
                "threshold": threshold_at(thresholds, layer),
                "temperature": found.policy.temperatures[layer],
                "calibration_error_before": found.errors[layer][0],
                "calibration_error": found.errors[layer][1],
            }
            for layer, count in found.histogram.items()
        },
        "rows": {"chosen_on": found.num_fitted, "measured_on": found.num_measured},
        "promise": found.promise,
        "notes": [*found.notes, *notes],
        "data": {"source": texts.source, "fingerprint": texts.fingerprint},
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


def threshold_at(thresholds: object, layer: int) -> object:
    """Of one exit; `None` for a policy without thresholds and an exit without one."""
    return thresholds.get(layer) if isinstance(thresholds, Mapping) else thresholds


def print_calibration(report: Mapping[str, Any], folder: Path) -> None:
    """Prints where texts leave, what that costs and what it saves."""
    from exitwise.inference.calibration_report import leaves, summary

    console = Console(markup=False, highlight=False, soft_wrap=True)
    total = report["rows"]["measured_on"]
    columns = ("exit", "leaves at", "temperature", "error before", "after", "rows", "share")
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        table.add_column(name, justify="left" if name == "exit" else "right")
    for layer, each in report["exits"].items():
        table.add_row(
            layer,
            leaves(report, layer),
            f"{each['temperature']:.2f}",
            f"{100 * each['calibration_error_before']:.1f}",
            f"{100 * each['calibration_error']:.1f}",
            str(each["rows"]),
            f"{100 * each['rows'] / total:.0f} %",
        )
    console.print(table)
    console.print(summary(report))
    if report["promise"]:
        console.print(f"Promise: {report['promise']}.")
    for note in report["notes"]:
        console.print(f"Note: {note}.")
    console.print(f"Stored in {folder}")
