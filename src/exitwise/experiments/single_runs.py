"""Runs outside the paper's tables: a run's `result.json` under a name of its own."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from exitwise.experiments.markdown import markdown
from exitwise.experiments.store import Result


def read_results(folder: Path) -> dict[str, Result]:
    """All results of a folder by the names of their files, in alphabetical order."""
    return {
        path.stem: json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(folder.glob("*.json"))
    }


def results_page(results: Mapping[str, Result]) -> str:
    """The tables: one for each task and number of layers, one of gates, one of recipes."""
    groups: dict[tuple[str, int], dict[str, Result]] = {}
    for name, result in results.items():
        depth = max(int(layer) for layer in first_scores(result)["exits"])
        groups.setdefault((result["recipe"]["data"]["task"], depth), {})[name] = result
    tables = [
        f"### {task}, {depth} layers\n\n{provenance(group)}\n\n{score_table(group, depth)}"
        for (task, depth), group in sorted(groups.items())
    ]
    return "\n\n".join([*tables, "### Gates\n\n" + gate_table(results), recipes(results)]) + "\n"


def first_scores(result: Result) -> Mapping[str, Any]:
    """The scores on the first validation set."""
    scores: Mapping[str, Any] = next(iter(result["scores"].values()))
    return scores


def provenance(group: Mapping[str, Result]) -> str:
    """Metric, rows and sources that the runs of a table share."""
    shared = {
        f"Metric: {result['data']['metric']}. Training: {result['data']['train']['rows']} rows of "
        f"{result['data']['train']['source']}. Validation: {first_scores(result)['labelled']} rows."
        for result in group.values()
    }
    return " ".join(sorted(shared))


def score_table(group: Mapping[str, Result], depth: int) -> str:
    """The score of every exit and the average over the layers; the majority class comes first."""
    layers = [str(layer) for layer in range(1, depth + 1)]
    majority = first_scores(next(iter(group.values())))["majority"]["score"]
    rows = [["always the majority class", *[""] * (depth - 1), number(majority), "", ""]]
    for name, result in group.items():
        scores = first_scores(result)
        exits = [
            number(scores["exits"][layer]["score"]) + ("*" if layer in scores["constant"] else "")
            if layer in scores["exits"]
            else ""
            for layer in layers
        ]
        average = scores["average"].get("score")
        rows.append(
            [
                f"`{name}`",
                *exits,
                "" if average is None else number(average),
                f"{result['seconds']['all']:.0f}",
            ]
        )
    return markdown(["run", *(f"exit {layer}" for layer in layers), "average", "seconds"], rows)


def gate_table(results: Mapping[str, Result]) -> str:
    """What the gate decided, by run and stage, over all its groups."""
    rows = []
    for name, result in results.items():
        for stage, groups in result["gates"].items():
            if not groups:
                continue
            total = sum(group["decisions"] for group in groups.values())
            means = [
                number(
                    sum(group["decisions"] * (group[key] or 0.0) for group in groups.values())
                    / total
                    * factor
                )
                for key, factor in (("mean_angle", 1), ("share_above_90", 100), ("share_open", 100))
            ]
            rows.append([f"`{name}`", stage, str(total), *means])
    header = ["run", "stage", "decisions", "mean angle", "above 90° (%)", "open (%)"]
    return markdown(header, rows)


def recipes(results: Mapping[str, Result]) -> str:
    """What each run is known by, and where its resolved recipe stands."""
    rows = [
        [
            f"`{name}`",
            f"`{result['recipe_hash']}`",
            str(result["recipe"]["seed"]),
            result["environment"]["commit"] or "",
        ]
        for name, result in results.items()
    ]
    return "### Recipes\n\n" + markdown(["run", "recipe", "seed", "commit"], rows)


def number(value: float) -> str:
    """One decimal, as the paper prints scores."""
    return f"{value:.1f}"
