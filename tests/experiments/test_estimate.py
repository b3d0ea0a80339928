"""How long a call will take: all that it trains, models that are gone among it."""

from pathlib import Path

import pytest

from exitwise.experiments import Cell, Place, Runs, Store, estimate, in_order, jobs

from .made_up import result, small

SECONDS = {"ce": 100.0, "acl_cl": 10.0}


@pytest.fixture
def places() -> list[Place]:
    """One seed of a row that starts from `ce`, and is looked into for figure 6."""
    found = small("figure6", tasks=("mrpc",), seeds=1).places()
    return [place for place in found if place.row.name == "CE+SCL"]


@pytest.fixture
def others() -> list[Cell]:
    """The same cells of another seed, of which it is known how long they took."""
    found = small("figure6", tasks=("mrpc",), seeds=2).places()
    names = [place for place in found if place.row.name == "CE+SCL" and place.cell.seed == 2]
    return in_order(place.cell for place in names)


@pytest.fixture
def store(tmp_path: Path, others: list[Cell]) -> Store:
    """With the results of the other seed alone."""
    store = Store(tmp_path / "results")
    for cell in others:
        add(store, cell)
    return store


def add(store: Store, cell: Cell) -> None:
    store.write(cell.key, result(cell) | {"seconds": {"all": SECONDS[cell.name.split()[0]]}})


def finish(runs: Runs, cell: Cell) -> None:
    """What `train` leaves, as far as it is looked at."""
    run = runs.of(cell)
    run.model.mkdir(parents=True)
    run.result.write_text("{}")


@pytest.mark.parametrize(
    ("done", "kept", "seconds"),
    [
        ((), (), 110),  # both are trained
        ((0,), (0,), 10),
        ((0,), (), 110),  # a backbone whose model is gone is trained again
        ((0, 1), (0, 1), 0),  # the model is there, and is only looked into
        ((0, 1), (1,), 0),
        ((0, 1), (0,), 10),  # it is trained again to be looked into
        ((0, 1), (), 110),
    ],
)
def test_what_is_trained_again_for_its_model_is_counted(
    done: tuple[int, ...],
    kept: tuple[int, ...],
    seconds: int,
    places: list[Place],
    others: list[Cell],
    store: Store,
    tmp_path: Path,
) -> None:
    cells, runs = in_order(place.cell for place in places), Runs(tmp_path / "runs")
    assert [cell.name.split()[0] for cell in cells] == ["ce", "acl_cl"]
    for each in done:
        add(store, cells[each])
    for each in kept:
        finish(runs, cells[each])
    wanted = jobs(places, store)
    assert wanted
    assert estimate(wanted, [*others, *cells], store, runs) == (seconds, 0)


def test_a_backbone_is_counted_once_for_all_that_start_from_it(
    others: list[Cell], store: Store, tmp_path: Path
) -> None:
    places = list(small("table2", "figure6", tasks=("mrpc",), seeds=1).places())
    acl_cl = [p for p in places if p.cell.name.startswith("acl_cl on ce ")]
    kinds = {place.cell.key for place in acl_cl}
    assert len(kinds) > 1
    runs = Runs(tmp_path / "runs")
    wanted = jobs(acl_cl, store)
    assert estimate(wanted, others, store, runs) == (100 + 10 * len(kinds), 0)
    add(store, wanted[0].cell)
    assert estimate(jobs(acl_cl, store), others, store, runs) == (100 + 10 * len(kinds), 0)


def test_cells_like_none_that_was_run_are_counted_apart(
    places: list[Place], tmp_path: Path
) -> None:
    store, runs = Store(tmp_path / "none"), Runs(tmp_path / "runs")
    assert estimate(jobs(places, store), [], store, runs) == (0.0, 2)
