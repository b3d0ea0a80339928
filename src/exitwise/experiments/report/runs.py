"""What stands behind a number: the recipe, and every run of it."""

from collections.abc import Iterable, Mapping, Sequence

from exitwise.experiments.answers import deepest
from exitwise.experiments.intervals import example_interval, over_seeds
from exitwise.experiments.report.html import Html, element, joined, paragraphs, table
from exitwise.experiments.report.repeats import Repeat, seedless
from exitwise.experiments.scores import exit_scores
from exitwise.experiments.store import Result, Store
from exitwise.recipe import dumps_toml


def run_boxes(found: Mapping[str, Repeat], commands: Mapping[str, str], store: Store) -> Html:
    """A box for each recipe; the numbers of the tables open them.

    Args:
        found: recipes over seeds.
        commands: how each is run again, by key.
        store: the results.
    """
    boxes = (run_box(each, commands.get(key, ""), store) for key, each in found.items())
    return joined(boxes, "\n")


def run_box(repeat: Repeat, command: str, store: Store) -> Html:
    """Seeds with scores, seconds, key and machine; the command; the recipe."""
    results = {cell.key: store.read(cell.key) for cell in repeat.cells if store.has(cell.key)}
    name = element("h3", repeat.name, id=f"name-{repeat.key}")
    return element(
        "section",
        element("button", "close", class_="close", popovertarget=f"run-{repeat.key}"),
        name,
        paragraphs(repeat.state(store)),
        last_exit(results.values(), repeat.task),
        seed_table(repeat, store, results),
        started_from(repeat),
        machines(results.values()),
        *again(command),
        element("h4", f"Recipe of seed {repeat.cells[0].seed}, all defaults written out"),
        element("pre", dumps_toml(repeat.cells[0].recipe)),
        id=f"run-{repeat.key}",
        class_="run",
        popover=True,
        aria_labelledby=f"name-{repeat.key}",
    )


def seed_table(repeat: Repeat, store: Store, results: Mapping[str, Result]) -> Html:
    """A line a seed. An exit that answers one class for every row is marked."""
    head = ("seed", "cell", "scores by exit", "last exit, 95 % over examples", "seconds")
    rows = []
    for cell in repeat.cells:
        failure = store.failure(cell.key)
        if cell.key in results:
            result = results[cell.key]
            said, seconds = scores_in_words(result), f"{result['seconds']['all']:.0f}"
            low, high = example_interval(result)
            interval = f"{low:.1f} to {high:.1f}"
        else:
            said = f"failed: {failure['error']}" if failure is not None else "not run"
            seconds = interval = ""
        rows.append(
            [
                element("th", str(cell.seed), scope="row"),
                element("td", element("code", cell.key)),
                element("td", said),
                element("td", interval, class_="number"),
                element("td", seconds, class_="number"),
            ]
        )
    heads = element("tr", *(element("th", each, scope="col") for each in head))
    return table(f"Runs of {repeat.name}", [heads], rows)


def last_exit(results: Iterable[Result], task: str) -> Html:
    """The score of the last exit over the seeds, with its intervals."""
    scores = [deepest(exit_scores(result, task)) for result in results]
    return paragraphs(f"Last exit: {over_seeds(scores)}." if scores else "")


def scores_in_words(result: Result) -> str:
    """Every exit on every validation set.

    >>> exits = {"exits": {"1": {"score": 70.0}, "2": {"score": 80.04}}, "constant": {"1": "no"}}
    >>> scores_in_words({"scores": {"validation": exits}})
    '1: 70.0 (answers one class alone), 2: 80.0'
    """
    sets: Mapping[str, Result] = result["scores"]
    several = sum(name.startswith("validation") for name in sets) > 1
    words = []
    for name, scores in sets.items():
        if not name.startswith("validation"):
            continue
        constant = scores.get("constant", {})
        exits = ", ".join(
            f"{layer}: {each['score']:.1f}"
            + (" (answers one class alone)" if layer in constant else "")
            for layer, each in scores["exits"].items()
        )
        words.append(f"{name}: {exits}" if several else exits)
    return "; ".join(words)


def started_from(repeat: Repeat) -> Html:
    """A way to the runs of the backbone."""
    backbone = repeat.cells[0].backbone
    if backbone is None:
        return Html()
    name = backbone.name.rpartition(" seed ")[0]
    button = element("button", name, popovertarget=f"run-{seedless(backbone)}")
    return element("p", "Starts from the finished model of the same seed of ", button, ".")


def machines(results: Iterable[Result]) -> Html:
    """Where the runs were made, each place once."""
    found = list(dict.fromkeys(machine(result["environment"]) for result in results))
    return element("ul", *(element("li", each) for each in found)) if found else Html()


def machine(environment: Mapping[str, object]) -> str:
    """Processor, cores, system, versions and commit."""
    packages = environment.get("packages")
    versions = packages.items() if isinstance(packages, Mapping) else []
    said = [
        str(environment.get("accelerator") or environment["processor"]),
        f"{environment['cores']} cores, {environment['threads']} threads",
        str(environment["platform"]),
        f"exitwise {environment['exitwise']} at commit {environment['commit'] or 'not known'}",
        f"Python {environment['python']}",
        *(f"{name} {version}" for name, version in versions if version is not None),
    ]
    return "; ".join(said)


def again(command: str) -> Sequence[Html]:
    """How to run it again, if it stands in a table itself."""
    if not command:
        return ()
    return element("h4", "Run again, with the other rows of a table"), element("pre", command)
