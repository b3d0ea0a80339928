"""Cells are run once, whatever stops them, and what fails stops no other."""

import json
import shutil
from pathlib import Path

import pytest

from exitwise.errors import ExitwiseError
from exitwise.experiments import (
    Cell,
    Experiments,
    Runs,
    Store,
    failures,
    jobs,
    runner,
    score_markdown,
)
from exitwise.experiments.scores import layer_scores
from exitwise.experiments.verdicts import verdicts
from exitwise.recipe import plain_hash

from .conftest import Bench


def test_every_table_and_figure_runs_to_its_numbers(experiments: Experiments, bench: Bench) -> None:
    places = list(experiments.places())
    bench.run(jobs(places, bench.store))
    failures = [path.read_text() for path in bench.store.folder.glob("*.failed.json")]
    assert failures == []
    assert jobs(places, bench.store) == []
    for name, table in experiments.tables.items():
        page = score_markdown(experiments, name, bench.store)
        assert page.count("(1)") >= len(table.rows), page
        found = verdicts(experiments, name, bench.store)
        assert len(found) == len(table.claims)
        for verdict in found:  # of a single seed
            assert verdict.sentence.startswith("not decidable with this budget: "), verdict
            assert "1 seed" in verdict.sentence
    curves = layer_scores(experiments, "figure3", bench.store)
    assert set(curves["ACL"]["mrpc"]) == {1, 2, 3, 4, 5, 6}
    assert set(curves["TinyBERT (6L)"]["mrpc"]) == {3}
    angles = [place for place in places if place.observation == "angles"]
    assert len(bench.store.read(angles[0].cell.key, "angles")["angles"]) == 2
    maps = [place for place in places if place.observation == "embeddings-1"]
    found = bench.store.read(maps[0].cell.key, "embeddings-1")
    assert (len(found["samples"]), len(found["label_embeddings"])) == (12, 2)
    starts = {place.cell.backbone.key for place in places if place.cell.backbone is not None}
    assert bench.models() == starts
    assert not list(bench.runs.glob("hidden_states*"))


def test_a_result_says_all_that_a_reader_needs(experiments: Experiments, bench: Bench) -> None:
    places = [p for p in experiments.places(["table2"]) if p.row.name == "ACL"]
    bench.run(jobs(places, bench.store))
    cell = places[0].cell
    result = bench.store.read(cell.key)
    assert result["recipe"] == cell.recipe
    assert result["recipe_hash"] == plain_hash(result["recipe"]) == cell.key
    assert result["environment"]["packages"]["torch"]
    assert result["seconds"]["all"] > 0
    assert len(result["labels"]) == len(result["answers"]["1"]) == 12
    assert set(result["geometry"]["6"]) >= {"alignment", "uniformity", "own_label_similarity"}
    assert result["open_gates"]["exits"]
    assert str(bench.runs) not in json.dumps(result)


def test_what_is_done_is_not_run_again_and_a_missing_backbone_is(
    experiments: Experiments, bench: Bench
) -> None:
    places = [p for p in experiments.places(["table2"]) if p.row.name == "(e) 2ST"]
    bench.run(jobs(places, bench.store))
    before = {path: path.read_bytes() for path in bench.store.folder.glob("*.json")}
    assert jobs(places, bench.store) == []
    shutil.rmtree(bench.runs)  # as in a fresh clone: results without models
    more = [p for p in experiments.places(["table2"]) if p.row.name == "(c) without ACL-Grad"]
    wanted = jobs(more, bench.store)
    assert [job.cell.key for job in wanted] == [more[0].cell.key]
    bench.run(wanted)
    assert bench.store.has(more[0].cell.key)
    assert all(path.read_bytes() == content for path, content in before.items())


def test_a_failure_is_noted_and_the_others_run(
    experiments: Experiments, bench: Bench, tiny_glue: Path
) -> None:
    mrpc = [p for p in experiments.places(["figure3"]) if p.row.name in ("ACL", "JT")]
    acl = mrpc[0].cell
    assert acl.backbone is not None
    blocked = bench.runs / acl.backbone.key
    blocked.parent.mkdir()
    blocked.write_text("a file where a run should be")
    bench.run(jobs(mrpc, bench.store))
    assert bench.store.has(mrpc[1].cell.key)
    failure = bench.store.failure(acl.backbone.key)
    assert failure is not None and "is no run" in failure["error"]
    inherited = bench.store.failure(acl.key)
    assert inherited is not None and "is no run" in inherited["error"]
    assert jobs(mrpc, bench.store) == []
    blocked.unlink()
    again = jobs(mrpc, bench.store, retry=True)
    assert [job.cell.key for job in again] == [acl.backbone.key, acl.key]
    bench.run(again)
    assert bench.store.failure(acl.key) is None


def test_a_second_runner_is_kept_out_of_the_folder_of_the_first(
    experiments: Experiments, bench: Bench
) -> None:
    wanted = jobs(list(experiments.places(["figure2"]))[:1], bench.store)
    runs = Runs(bench.runs)
    with runs.alone(), pytest.raises(ExitwiseError, match=rf"is at work in {runs.folder}: wait"):
        bench.run(wanted)
    assert bench.trained == []
    assert not bench.store.folder.exists()
    bench.run(wanted)
    assert jobs(list(experiments.places(["figure2"]))[:1], bench.store) == []


def test_a_model_stays_while_a_table_may_read_it(experiments: Experiments, bench: Bench) -> None:
    def run(table: str, *rows: str) -> list[Cell]:
        bench.trained.clear()
        places = [p for p in experiments.places([table]) if p.row.name in rows]
        bench.run(jobs(places, bench.store))
        return [place.cell for place in places]

    [joint] = run("figure3", "JT")
    [seen, other] = run("table2", "(d) CE+SCL", "(e) 2ST")  # figure 6 shows the first
    assert seen.backbone is not None
    assert bench.trained == [seen.backbone.key, seen.key, other.key]
    assert bench.models() == {seen.backbone.key, seen.key}
    assert run("figure6", "CE+SCL") == [seen]
    assert bench.trained == []
    assert bench.models() == {seen.backbone.key}
    assert bench.store.has(joint.key)


def test_an_observation_that_fails_is_noted_and_not_tried_again_unless_asked(
    experiments: Experiments, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = [p for p in experiments.places(["figure2", "figure6"]) if p.row.name == "A: CE"]
    cell = places[0].cell
    with monkeypatch.context() as patch:
        patch.setattr(runner, "angles", out_of_memory)
        bench.run(jobs(places, bench.store))
    assert bench.store.has(cell.key) and bench.store.failure(cell.key) is None
    failure = bench.store.failure(cell.key, "angles")
    assert failure is not None
    assert (failure["cell"], failure["error"]) == (f"{cell.name}, angles", "out of memory")
    assert jobs(places, bench.store) == []
    again = jobs(places, bench.store, retry=True)
    assert [(job.is_trained, job.observations) for job in again] == [(True, ("angles",))]
    assert failures(again, bench.store) == [failure]
    bench.run(again)
    assert failures(again, bench.store) == []
    assert jobs(places, bench.store, retry=True) == []


def out_of_memory(*_: object) -> None:
    raise RuntimeError("out of memory")


def test_a_result_that_somebody_broke_is_named(tmp_path: Path) -> None:
    (tmp_path / "0123456789ab.json").write_text('{"recipe": ')
    with pytest.raises(ExitwiseError, match=r"0123456789ab\.json is no whole result"):
        Store(tmp_path).read("0123456789ab")
