"""Where the numbers come from."""

from collections.abc import Iterable

from exitwise.experiments.report.state import State

Lines = list[tuple[str, str]]


def provenance(state: State) -> Lines:
    """What one must know of all results together, as names and values."""
    environments = [result["environment"] for result in state.results.values()]
    packages = (
        f"{name} {version}"
        for each in environments
        for name, version in {"Python": each["python"], **each["packages"]}.items()
    )
    metrics = {
        f"{result['recipe']['data']['task']}: {result['data']['metric']}"
        for result in state.results.values()
    }
    seconds = sum(result["seconds"]["all"] for result in state.results.values())
    return [
        ("scale", " ".join(state.experiments.overlay.note.split())),
        *(
            (f"encoder {name}", f"{each.path}, {each.layers} layers. {each.note}".strip())
            for name, each in state.experiments.overlay.encoders.items()
        ),
        ("seeds", seeds(state)),
        ("metrics", listed(metrics)),
        ("cells", counts(state)),
        ("time", f"{seconds / 3600:.1f} hours of training and evaluation in total"),
        ("machines", listed(f"{each['accelerator'] or each['processor']}, {each['cores']} cores, "
                            f"{each['platform']}" for each in environments)),
        ("versions", listed(packages)),
        ("commits", listed(f"{each['commit'] or 'not known'}" for each in environments)),
    ]  # fmt: skip


def counts(state: State) -> str:
    """How many cells have ended, failed or were not run."""
    missing = len(state.cells) - len(state.results) - len(state.failures)
    return (
        f"{len(state.cells)}: {len(state.results)} done, {len(state.failures)} failed, "
        f"{missing} not run"
    )


def seeds(state: State) -> str:
    """By task, where they differ."""
    overlay = state.experiments.overlay
    by_task = {task: ", ".join(map(str, overlay.seeds_for(task))) for task in overlay.tasks}
    if len(set(by_task.values())) == 1:
        return next(iter(by_task.values()))
    return "; ".join(f"{task}: {numbers}" for task, numbers in by_task.items())


def listed(words: Iterable[str]) -> str:
    """Each once, in order; a dash for none.

    >>> listed(["b", "a", "b"]), listed([])
    ('a, b', '–')
    """
    return ", ".join(sorted(set(words))) or "–"
