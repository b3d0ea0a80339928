"""What a calibration found: as data beside the policy, and as a table."""

import datetime
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from exitwise.whole_files import write_text

if TYPE_CHECKING:
    from exitwise.calibration import Calibration
    from exitwise.data import TextDataset

FILE = "calibration.json"


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
        "data": {"source": texts.source, "fingerprint": texts.fingerprint()},
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


def threshold_at(thresholds: object, layer: int) -> object:
    """Of one exit; `None` for a policy without thresholds and an exit without one."""
    return thresholds.get(layer) if isinstance(thresholds, Mapping) else thresholds


def write_report(folder: Path, report: Mapping[str, Any]) -> None:
    """Puts the report beside the policy, whole or not at all, and into the model card."""
    from exitwise.modeling.model_card import describe_calibration

    write_text(folder / FILE, json.dumps(report, indent=2, ensure_ascii=False) + "\n")
    describe_calibration(folder, in_words(report))


def in_words(report: Mapping[str, Any]) -> str:
    """The report for the model card."""
    rows = report["rows"]
    table = [
        "| exit | leaves at | temperature | share of the texts |",
        "| --- | --- | --- | --- |",
        *(
            f"| {layer} | {leaves(report, layer)} | {each['temperature']:.2f} "
            f"| {100 * each['rows'] / rows['measured_on']:.0f} % |"
            for layer, each in report["exits"].items()
        ),
    ]
    data = report["data"]
    parts = [
        f"Calibrated on {report['date']} ({rows['chosen_on']} rows of {data['source']}, "
        f"fingerprint {data['fingerprint']}): {summary(report)}.",
        "\n".join(table),
        f"Promise: {report['promise']}." if report["promise"] else "No promise is made.",
        *(f"Note: {note}." for note in report["notes"]),
    ]
    return "\n\n".join(parts)


def summary(report: Mapping[str, Any]) -> str:
    """What early exit costs and saves."""
    return (
        f"{report['metric']} {report['score']:.2f}, the whole model {report['full_score']:.2f}: "
        f"a drop of {report['drop']:.2f} points at {100 * report['cost']:.0f} % of the cost, "
        f"layer {report['mean_layer']:.2f} on average ({report['rows']['measured_on']} rows)"
    )


def leaves(report: Mapping[str, Any], layer: str) -> str:
    """When a text leaves at an exit, in a word."""
    if layer == list(report["exits"])[-1]:
        return "the rest"
    if "threshold" not in report["policy"]:
        return str(report["policy"]["kind"])
    threshold = report["exits"][layer]["threshold"]
    return "never" if threshold is None else f"{threshold:.3f}"


def read_report(folder: Path) -> dict[str, Any] | None:
    """The report of a model; `None` if it was never calibrated."""
    path = folder / FILE
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None


def print_calibration(report: Mapping[str, Any], folder: Path) -> None:
    """Prints where texts leave, what that costs and what it saves."""
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
