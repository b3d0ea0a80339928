"""One HTML page of all tables: it opens from disk and loads nothing."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from importlib.resources import files
from string import Template

from exitwise.experiments.figures import Picture
from exitwise.experiments.pairs import example_noise
from exitwise.experiments.report.claims_table import (
    DECIDED,
    all_verdicts,
    claims_overview,
    claims_table,
    counted,
)
from exitwise.experiments.report.html import Html, element, joined, paragraphs, table
from exitwise.experiments.report.provenance import provenance
from exitwise.experiments.report.runs import run_boxes
from exitwise.experiments.report.score_table import layer_table, score_table
from exitwise.experiments.report.state import State
from exitwise.experiments.verdicts import Verdict

Drawn = Sequence[tuple[Picture, str]]
"""Pictures as SVG."""

AGAIN = """
GLUE stands for the folder of the tasks' files; without --data-dir they come from the hub. What is
there is not run again, so that a second run needs folders of its own."""


def report_page(state: State, drawn: Drawn) -> str:
    """The page.

    Args:
        state: experiments and results.
        drawn: pictures with their SVG, which become part of the page.
    """
    title = f"exitwise: the paper's tables at the scale {state.commands.overlay}"
    found = all_verdicts(state.experiments, state.store)
    body = joined(
        [
            element("h1", title),
            navigation(state),
            overview(state, found),
            *(table_section(state, name, found.get(name, []), drawn) for name in tables(state)),
            unfinished(state),
            run_boxes(state.repeats, state.repeat_commands(), state.store),
        ],
        "\n",
    )
    text = files("exitwise.experiments.report").joinpath("page.html").read_text(encoding="utf-8")
    return Template(text).substitute(title=joined([title]), body=body)


def tables(state: State) -> Sequence[str]:
    """The names of all tables."""
    return list(state.experiments.tables)


def navigation(state: State) -> Html:
    """Ways to the parts of the page."""
    sources = {name: each.source for name, each in state.experiments.tables.items()}
    links = {"claims": "Claims", **sources, "unfinished": "Unfinished"}
    return element(
        "nav",
        *(element("a", words, href=f"#{name}") for name, words in links.items()),
        aria_label="Parts of this page",
    )


def overview(state: State, found: Mapping[str, Sequence[Verdict]]) -> Html:
    """Where the numbers come from, and every claim with its outcome."""
    known = [
        element("div", element("dt", name), element("dd", value))
        for name, value in provenance(state)
    ]
    lines = [(name, verdict) for name, verdicts in found.items() for verdict in verdicts]
    claims = element(
        "section",
        element("h2", "Claims"),
        element("p", f"{counted(found)}. {DECIDED}"),
        claims_overview("All claims of the paper", lines),
        id="claims",
    )
    return joined([element("dl", *known), claims], "\n")


def table_section(state: State, name: str, found: Sequence[Verdict], drawn: Drawn) -> Html:
    """A table or figure of the paper with all that is known of it."""
    shown = state.experiments.tables[name]
    figures = [figure(picture, svg) for picture, svg in drawn if picture.table == name]
    noise = example_noise(state.experiments, name, state.store)
    parts = [
        score_table(state, name),
        layer_table(state, name) if shown.shows == "layer_scores" else Html(),
        claims_table(f"Claims of {shown.source}", found, noise) if found else Html(),
    ]
    return element(
        "section",
        element("h2", f"{shown.source}: {shown.title}"),
        paragraphs(shown.note, class_="note"),
        *([*parts, *figures] if shown.shows == "scores" else [*figures, *parts]),
        element(
            "details",
            element("summary", "Run this again"),
            element("pre", state.commands.again(name)),
            paragraphs(AGAIN, class_="note"),
        ),
        id=name,
    )


def figure(picture: Picture, svg: str) -> Html:
    """A picture inside the page: as data, so that the names in it stay its own."""
    data = b64encode(svg.encode()).decode()
    image = element("img", src=f"data:image/svg+xml;base64,{data}", alt=picture.caption)
    return element("figure", image, element("figcaption", picture.caption), id=picture.name)


def unfinished(state: State) -> Html:
    """What failed, with the errors, and what was not run yet."""
    keyed = [*state.failures.items()]
    keyed += [(key, failure) for (key, _), failure in state.failed_observations.items()]
    failed = [
        [
            element("th", failure["cell"], scope="row"),
            element("td", element("code", key)),
            element("td", failure["error"]),
        ]
        for key, failure in keyed
    ]
    waiting = [
        [element("th", repeat.name, scope="row"), element("td", repeat.state(state.store))]
        for repeat in state.repeats.values()
        if missing_seeds(state, repeat.key)
    ]
    return element(
        "section",
        element("h2", "Unfinished"),
        listing("Failed", ("cell, observation", "key", "error"), failed),
        element(
            "details",
            element("summary", f"Not run yet: some seeds of {len(waiting)} recipes"),
            listing("Cells not run yet", ("cells", "state"), waiting),
        ),
        element("h3", "Go on"),
        element("pre", state.commands.go_on(["all"], retry=bool(keyed))),
        strangers(state),
        id="unfinished",
    )


def missing_seeds(state: State, key: str) -> list[int]:
    """Of a recipe, those that were not run."""
    return [
        cell.seed
        for cell in state.repeats[key].cells
        if cell.key not in state.results and cell.key not in state.failures
    ]


def listing(caption: str, head: Sequence[str], rows: Sequence[Sequence[Html]]) -> Html:
    """A table, or a word that there is nothing."""
    if not rows:
        return element("p", f"{caption}: none.")
    heads = element("tr", *(element("th", each, scope="col") for each in head))
    return table(caption, [heads], rows)


def strangers(state: State) -> Html:
    """Results that stand in no table, by name."""
    if not state.strangers:
        return Html()
    words = f"Results that belong to no cell of these tables: {', '.join(state.strangers)}."
    return element("p", words, class_="note")
