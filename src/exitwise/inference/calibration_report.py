"""What a calibration found, beside the policy that it chose: as data, and in the model card.

A model folder holds it as `calibration.json`, an exported folder in its manifest.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from exitwise.inference.manifest import FILE as MANIFEST
from exitwise.inference.manifest import load_manifest
from exitwise.whole_files import write_text

FILE = "calibration.json"
CARD = "README.md"
HEADING = "## Early exit"

Report = Mapping[str, Any]


def read_report(folder: Path) -> dict[str, Any] | None:
    """The report of a model; `None` if it was never calibrated."""
    if (folder / MANIFEST).exists():
        return load_manifest(folder).calibration
    path = folder / FILE
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None


def write_report(folder: Path, report: Report | None) -> None:
    """Puts the report of a model beside its policy, whole or not at all, and into its card.

    Without a report, that of an earlier policy goes.
    """
    if report is None:
        (folder / FILE).unlink(missing_ok=True)
    else:
        write_text(folder / FILE, json.dumps(report, indent=2, ensure_ascii=False) + "\n")
    card = folder / CARD
    if card.exists():
        text = card.read_text(encoding="utf-8").partition(f"\n{HEADING}\n")[0]
        section = "" if report is None else f"\n{HEADING}\n\n{in_words(report)}\n"
        write_text(card, text + section)


def in_words(report: Report) -> str:
    """The last section of the model card."""
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


def summary(report: Report) -> str:
    """What early exit costs and saves."""
    return (
        f"{report['metric']} {report['score']:.2f}, the whole model {report['full_score']:.2f}: "
        f"a drop of {report['drop']:.2f} points at {100 * report['cost']:.0f} % of the cost, "
        f"layer {report['mean_layer']:.2f} on average ({report['rows']['measured_on']} rows)"
    )


def leaves(report: Report, layer: str) -> str:
    """When a text leaves at an exit, in a word."""
    if layer == list(report["exits"])[-1]:
        return "the rest"
    if "threshold" not in report["policy"]:
        return str(report["policy"]["kind"])
    threshold = report["exits"][layer]["threshold"]
    return "never" if threshold is None else f"{threshold:.3f}"
