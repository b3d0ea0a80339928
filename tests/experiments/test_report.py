"""The page says all that results say, escapes it, loads nothing, and sorts."""

import json
import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from exitwise.experiments import Experiments, Store
from exitwise.experiments.figures import pictures, save
from exitwise.experiments.pairs import example_noise
from exitwise.experiments.report import Commands, State, report_page, results_markdown
from exitwise.experiments.report.html import VOID
from exitwise.experiments.scores import table_scores
from exitwise.experiments.verdicts import verdicts

from .made_up import fill, small

Make = Callable[..., State]


class Page(HTMLParser):
    """Reads a page: every tag that is opened must be closed, in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        if tag not in {*VOID, "meta"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag == name]


@pytest.fixture
def state(tmp_path: Path) -> State:
    """Two tables with all their results."""
    experiments = small("table2", "figure2")
    store = Store(tmp_path / "small")
    fill(store, experiments)
    return State(experiments, store, Commands("small"))


def anew(state: State, experiments: Experiments | None = None) -> State:
    """The same folder read again."""
    return State(experiments or state.experiments, state.store, state.commands)


def text(page: str) -> str:
    """What a reader sees, on one line."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def section(page: str, name: str) -> str:
    """The part of a table."""
    (_, rest) = page.split(f"<h2>{name}", 1)
    return rest.partition("<h2>")[0]


def test_the_page_is_well_formed_and_every_name_in_it_leads_somewhere(state: State) -> None:
    page = Page(report_page(state, []))
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    linked = {str(each["href"]).removeprefix("#") for each in page.all("a")}
    opened = {each["popovertarget"] for each in page.all("button")}
    described = {a["aria-labelledby"] for _, a in page.tags if "aria-labelledby" in a}
    assert linked | opened | described <= set(ids)
    assert all(each.get("scope") for each in page.all("th"))
    assert page.all("table") and len(page.all("caption")) == len(page.all("table"))


def test_nothing_is_loaded_and_pictures_are_part_of_the_page(state: State, tmp_path: Path) -> None:
    drawn = [
        (picture, save(picture, tmp_path)[1].read_text())
        for picture in pictures(state.experiments, state.store)
    ]
    written = report_page(state, drawn)
    assert not re.search(r"https?://|url\(|@import|\bimport\(|fetch\(", written)
    page = Page(written)
    assert page.all("link") == []
    assert all("src" not in each for each in page.all("script"))
    images = page.all("img")
    assert len(images) == len(drawn) == 3
    assert all(str(each["src"]).startswith("data:image/svg+xml;base64,") for each in images)
    assert all(each["alt"] for each in images)


def test_our_numbers_stand_beside_the_papers_with_the_difference(state: State) -> None:
    shown = text(section(report_page(state, []), "Table 2"))
    scores = table_scores(state.experiments, "table2", state.store)
    for row in state.experiments.tables["table2"].rows:
        values = list(scores[row.name]["mrpc"].values())
        mean, paper = float(np.mean(values)), row.paper["mrpc"]
        difference = f"{mean - paper:+.1f}".replace("-", "−")
        ours = f"{mean:.1f} ± {np.std(values, ddof=1):.1f} (2)"
        assert f"{row.name} mean of exits {ours} {paper:.1f} {difference}" in shown
    assert "sst2" not in shown  # not run at this scale


def test_every_claim_stands_with_its_outcome_and_what_decided_it(state: State) -> None:
    page = report_page(state, [])
    shown = text(section(page, "Table 2"))
    (order, *_) = verdicts(state.experiments, "table2", state.store)
    for claim in state.experiments.tables["table2"].claims:
        assert claim.text in shown and claim.source in shown
    assert "ACL > (e) 2ST on mrpc, rte: " in shown and "2 seeds" in shown
    assert order.outcome in shown
    summary = text(page[: page.index("<h2>Figure 2")])
    assert "the same after CE+SCL" in summary and "not decidable with this budget" in summary


def test_behind_a_number_are_recipe_runs_machine_and_the_command(state: State) -> None:
    place = next(p for p in state.places if p.row.name == "ACL" and p.cell.task == "rte")
    repeat = state.behind["table2", "ACL", "rte"]
    page = report_page(state, [])
    assert f'popovertarget="run-{repeat.key}"' in section(page, "Table 2")
    box = page[page.index(f'id="run-{repeat.key}"') :]
    box = box[: box.index("</section>")]
    recipe = unescape(box[box.rindex("<pre>") + 5 : box.rindex("</pre>")])
    assert tomllib.loads(recipe) == place.cell.recipe
    shown = text(box)
    for cell in repeat.cells:
        assert cell.key in shown
    assert [cell.seed for cell in repeat.cells] == [1, 2]
    assert "EPYC <7>; 2 cores, 2 threads" in shown and "torch 2.13.0" in shown
    assert "commit abc123def456" in shown and " 100 " in shown
    command = "exitwise reproduce table2 --overlay small --data-dir GLUE --tasks rte --seeds 1,2"
    assert f"{command} --results again/results --runs again/runs" in shown


def test_scores_have_intervals_over_examples_and_over_seeds(state: State) -> None:
    page = report_page(state, [])
    assert "last exit, 95 % over examples" in page
    assert re.search(r"Last exit: \d\d\.\d over 2 seeds, 95 % from .* by t, from .* by boot", page)
    assert "100.0 to 100.0" in page  # every made-up answer is right


def test_failures_and_what_was_not_run_are_told(state: State) -> None:
    failed, waiting = (
        next(p.cell for p in state.places if p.row.name == name) for name in ("(e) 2ST", "ACL")
    )
    assert "--retry" not in report_page(anew(state), [])
    for cell in (failed, waiting):
        (state.store.folder / f"{cell.key}.json").unlink()
    state.store.write_failure(failed.key, failed.name, ValueError("batch of <b>0</b> rows"))
    page = report_page(anew(state), [])
    Page(page)
    assert "<b>0</b>" not in page
    shown = text(section(page, "Unfinished"))
    assert f"{failed.name} {failed.key} batch of <b>0</b> rows" in shown
    assert "acl_cl on acl mrpc 1 done, 1 not run" in shown
    assert "1 failed, 1 not run" in text(page)
    assert "--retry" in shown


def test_failed_observations_are_told(state: State) -> None:
    place = next(each for each in state.places if each.observation == "angles")
    (state.store.folder / f"{place.cell.key}-angles.json").unlink()
    name = f"{place.cell.name}, angles"
    state.store.write_failure(place.cell.key, name, ValueError("no gradient"), "angles")
    page = report_page(anew(state), [])
    shown = text(section(page, "Unfinished"))
    assert f"{name} {place.cell.key} no gradient" in shown and "--retry" in shown
    assert "0 failed" in text(page)  # the cell itself stands


def test_a_claim_tells_what_single_seeds_can_show_of_its_pair(state: State) -> None:
    for cell in {place.cell.key: place.cell for place in state.places if place.table == "table2"}:
        path = state.store.folder / f"{cell}.json"
        result = json.loads(path.read_text())
        result["answers"]["6"] = ("01", "10")[int(cell, 16) % 2] * (len(result["labels"]) // 2)
        path.write_text(json.dumps(result))
    words = example_noise(state.experiments, "table2", state.store)["ACL", "(e) 2ST"]
    assert re.search(r"mrpc ± \d", words) and "rte ± " in words
    shown = text(section(report_page(anew(state), []), "Table 2"))
    assert shown.count(words) == 2  # with the claim of an order and that of the pair alone
    page = results_markdown(state.experiments, state.store)
    assert page.count(f"; {words}\n") == 1
    assert "resampled" in page and "resampled" in report_page(anew(state), [])


def test_a_failed_cell_and_a_missing_observation_leave_the_rest_as_it_is(
    tmp_path: Path,
) -> None:
    experiments = small("table2", "figure2", tasks=("mrpc", "rte"))
    store = Store(tmp_path / "small")
    fill(store, experiments)
    found = {
        (place.row.name, place.cell.seed, place.cell.task): place for place in experiments.places()
    }
    failed = found["ACL", 1, "mrpc"].cell
    (store.folder / f"{failed.key}.json").unlink()
    store.write_failure(failed.key, failed.name, ValueError("no memory"))
    unseen = found["A: CE", 2, "rte"].cell
    (store.folder / f"{unseen.key}-angles.json").unlink()
    drawn = [(each, save(each, tmp_path)[1].read_text()) for each in pictures(experiments, store)]
    assert {each.name for each, _ in drawn} == {"figure2", "table2-geometry", "table2-gates"}
    page = report_page(State(experiments, store, Commands("small")), drawn)
    Page(page)
    angles, ablation = (text(section(page, name)) for name in ("Figure 2", "Table 2"))
    assert "A: CE > 5 on rte: " in angles and "(1 seed: nothing can be said)" in angles
    assert re.search(r"B: CE\+SCL > 5 on rte: [^;]*2 seeds", angles)
    assert re.search(r"ACL mean of exits \d\d\.\d \(1\)", ablation)
    assert re.search(
        r"ACL against \(e\) 2ST, [^:]*: mrpc ± [^:]* of 1 seed\), rte ± [^:]* of 2 seeds", ablation
    )
    assert f"{failed.name} {failed.key} no memory" in text(section(page, "Unfinished"))
    written = results_markdown(experiments, store)
    assert "1 failed" in written and re.search(r"\n\| ACL \| \d\d\.\d \(1\)", written)
    assert "A: CE > 5 on rte: " in written and "](figures/figure2.png)" in written


def test_a_table_of_which_nothing_was_run_stands_there_without_numbers(tmp_path: Path) -> None:
    state = State(small("table2", "figure3"), Store(tmp_path / "small"), Commands("small"))
    page = report_page(state, [])
    Page(page)
    shown = text(section(page, "Table 2"))
    assert "ACL mean of exits not run 86.9" in shown
    assert "+nan" not in shown and "nothing was run" in shown


def test_what_people_wrote_is_escaped(state: State) -> None:
    evil = "<script>alert('$x')</script> & \"more\""
    table = replace(state.experiments.tables["table2"], title=evil, note=evil)
    overlay = replace(state.experiments.overlay, note=evil)
    changed = replace(state.experiments, tables={"table2": table}, overlay=overlay)
    page = report_page(anew(state, changed), [])
    assert len(Page(page).all("script")) == 1
    assert page.count("&lt;script&gt;alert(") == 3
    assert text(page).count(evil) == 3


def test_results_of_no_cell_are_named(state: State) -> None:
    (state.store.folder / "0123456789ab.json").write_text("{}")
    page = report_page(anew(state), [])
    assert "belong to no cell of these tables: 0123456789ab." in text(page)


def test_exits_of_layer_score_curves_are_a_table_too(tmp_path: Path) -> None:
    experiments = small("figure3", tasks=("rte",))
    store = Store(tmp_path / "small")
    fill(store, experiments)
    shown = text(report_page(State(experiments, store, Commands("small")), []))
    assert "Figure 3: score of every exit system task exit 1 exit 2" in shown


def test_an_exit_that_answers_one_class_is_marked(state: State) -> None:
    cell = next(p.cell for p in state.places if p.table == "figure2")
    path = state.store.folder / f"{cell.key}.json"
    result = json.loads(path.read_text())
    result["scores"]["validation"]["constant"] = {"6": "yes"}
    path.write_text(json.dumps(result))
    assert "(answers one class alone)" in text(report_page(anew(state), []))


def test_markdown_has_every_table_verdict_picture_and_its_origin(state: State) -> None:
    page = results_markdown(state.experiments, state.store, figures="plots")
    assert "- seeds: 1, 2\n" in page and "- commits: abc123def456\n" in page
    assert "MiniLM" in page and "hours of training" in page
    for table in state.experiments.tables.values():
        assert f"## {table.source}: {table.title}\n" in page
        for row in table.rows:
            assert f"\n| {row.name} | " in page
        for claim in table.claims:
            assert f"**: {claim.text} ({claim.source}). " in page
    assert "](plots/figure2.png)" in page and "](plots/table2-geometry.png)" in page
    assert "](plots/figure3.png)" not in page


CLICK = """<script>
document.querySelector("#table2 th[data-column='2'] button").click();
</script></body>"""
CHROMIUM = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"),
    *("--disable-quic", "--disable-background-networking", "--disable-component-update"),
    *("--enable-logging=stderr", "--dump-dom"),
)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_a_browser_opens_the_page_and_a_click_sorts(state: State, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(report_page(state, []).replace("</body>", CLICK))
    done = subprocess.run(
        ["chromium", *CHROMIUM, f"--user-data-dir={tmp_path / 'profile'}", page.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ":CONSOLE" not in done.stderr, done.stderr
    found = Page(done.stdout)
    assert found.all("html")[0]["data-sortable"] == str(
        sum("sortable" in str(each.get("class")) for each in found.all("table"))
    )
    shown = section(done.stdout, "Table 2")
    shown = shown[: shown.index("</table>")]
    assert 'aria-sort="descending"' in shown
    scores = table_scores(state.experiments, "table2", state.store)
    means = {name: np.mean(list(columns["mrpc"].values())) for name, columns in scores.items()}
    names = [unescape(each) for each in re.findall(r'<th scope="row">([^<]+)', shown)]
    assert names == sorted(means, key=lambda name: -means[name])
