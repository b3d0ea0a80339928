"""A cell keeps its name, so that results that are there stay results."""

from exitwise.experiments import Experiments, Store, in_order
from exitwise.recipe import plain_hash

from .conftest import EXPERIMENTS


def test_every_result_of_the_repository_is_still_that_of_a_cell() -> None:
    places = Experiments.read(EXPERIMENTS, "small").places()
    cells = {cell.key: cell for cell in in_order(place.cell for place in places)}
    store = Store(EXPERIMENTS / "results" / "small")
    files = {path.stem for path in store.folder.glob("*.json") if ".failed" not in path.name}
    assert files
    for key, _, observation in (name.partition("-") for name in files):
        assert key in cells
        assert store.has(key, observation or None)
        result = store.read(key)
        assert result["recipe"] == cells[key].recipe
        assert plain_hash(result["recipe"]) == key
