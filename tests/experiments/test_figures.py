"""Pictures are drawn of what is there, are the same each time, and need no colours."""

import json
from pathlib import Path

import pytest

from exitwise.experiments import Experiments, Store
from exitwise.experiments.figures import Picture, pictures, save
from exitwise.experiments.figures.gates import systems
from exitwise.experiments.figures.picture import STYLES, styles

from .made_up import fill, small


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "small")


def named(experiments: Experiments, store: Store) -> dict[str, Picture]:
    return {picture.name: picture for picture in pictures(experiments, store)}


def labels(picture: Picture) -> list[str]:
    """Of the legend below the panels."""
    (legend,) = picture.draw().legends
    return [text.get_text() for text in legend.get_texts()]


def test_every_kind_is_drawn_where_results_are(store: Store) -> None:
    experiments = small()
    fill(store, experiments)
    assert set(named(experiments, store)) == {
        *("figure2", "figure3", "figure5", "figure6", "figure3-geometry"),
        *("table1-gates", "table2-gates", "table2-geometry"),
    }


def test_nothing_is_drawn_without_results(store: Store) -> None:
    assert named(small(), store) == {}


def test_scores_alone_draw_neither_angles_nor_embeddings(store: Store) -> None:
    experiments = small("figure2", "figure6")
    fill(store, experiments)
    for path in store.folder.glob("*-*.json"):
        path.unlink()
    assert named(experiments, store) == {}


@pytest.mark.parametrize("table", ["figure2", "figure3", "figure6"])
def test_the_same_results_make_the_same_files(store: Store, tmp_path: Path, table: str) -> None:
    experiments = small(table, seeds=1)
    fill(store, experiments)
    first, second = (
        save(named(experiments, store)[table], tmp_path / folder) for folder in ("a", "b")
    )
    assert [path.name for path in first] == [f"{table}.png", f"{table}.svg"]
    for one, other in zip(first, second, strict=True):
        assert one.stat().st_size > 1000
        assert one.read_bytes() == other.read_bytes()
    assert first[0].read_bytes().startswith(b"\x89PNG")
    assert b"<dc:date>" not in first[1].read_bytes()


def test_a_curve_has_a_panel_a_task_and_tells_the_number_of_seeds(store: Store) -> None:
    experiments = small("figure3")
    fill(store, experiments)
    picture = named(experiments, store)["figure3"]
    assert "over 2 seeds" in picture.caption
    panels = picture.draw().axes
    assert [axes.get_title() for axes in panels] == ["mrpc", "rte"]
    assert labels(picture) == [row.name for row in experiments.tables["figure3"].rows]


def test_a_single_exit_is_a_dot_and_several_are_a_line(store: Store) -> None:
    experiments = small("figure3", tasks=("rte",))
    fill(store, experiments)
    (axes,) = named(experiments, store)["figure3"].draw().axes
    drawn = {each.get_label(): each.lines[0] for each in axes.containers}
    assert drawn["TinyBERT (6L)"].get_linestyle() == "None"
    assert len(drawn["TinyBERT (6L)"].get_xdata()) == 1
    assert drawn["ACL"].get_linestyle() == "-"
    assert len(drawn["ACL"].get_xdata()) == 6


def test_a_system_without_a_result_takes_no_place_in_the_legend(store: Store) -> None:
    experiments = small("figure3")
    fill(store, experiments)
    for place in experiments.places(["figure3"]):
        if place.row.name == "JT":
            (store.folder / f"{place.cell.key}.json").unlink()
    assert "JT" not in labels(named(experiments, store)["figure3"])


def test_angles_of_all_seeds_are_pooled_and_the_share_above_90_is_told(store: Store) -> None:
    experiments = small("figure2")
    fill(store, experiments)
    for place in experiments.places():
        seed = place.cell.seed
        path = store.folder / f"{place.cell.key}-angles.json"
        path.write_text(f'{{"angles": [{"80.0, " * 3 if seed == 1 else "100.0, " * 8}95.0]}}')
    (axes,) = named(experiments, store)["figure2"].draw().axes
    legend = axes.get_legend()
    assert legend is not None
    words = [text.get_text() for text in legend.get_texts()]
    assert words[0] == "A: CE: 77 % above 90°\n(13 batches, 2 seeds)"
    assert len({patch.get_hatch() for patch in legend.get_patches()}) == 2


def test_the_map_of_one_seed_is_drawn_with_a_star_for_each_label(store: Store) -> None:
    experiments = small("figure6")
    fill(store, experiments)
    picture = named(experiments, store)["figure6"]
    assert "seed 1" in picture.caption
    assert labels(picture) == [
        *("not_equivalent", "<equivalent>"),
        *("label embedding: not_equivalent", "label embedding: <equivalent>"),
    ]
    assert [axes.get_title()[:12] for axes in picture.draw().axes] == [
        "CE+SCL: exit",
        "ACL: exit 1,",
    ]


def test_rows_of_one_cell_share_a_line_of_the_gates(store: Store) -> None:
    experiments = small("table1", "table2")
    fill(store, experiments)
    drawn = named(experiments, store)
    assert labels(drawn["table1-gates"]) == [
        "BERT, ACL = RoBERTa, ACL",
        "ACL-BERT-6L = ACL-RoBERTa-6L",
    ]
    assert "backbone of ACL" in labels(drawn["table2-gates"])
    assert "(e) 2ST" not in labels(drawn["table2-gates"])
    places = list(experiments.places(["table2"]))
    assert set(systems(places)) >= {place.cell.key for place in places}


def test_a_system_looks_the_same_whichever_others_have_results(store: Store) -> None:
    experiments = small("figure3", tasks=("rte",), seeds=1)
    fill(store, experiments)

    def looks() -> set[tuple[str, str]]:
        axes = named(experiments, store)["figure3-geometry"].draw().axes[0]
        return {(str(each.get_label()), each.lines[0].get_marker()) for each in axes.containers}

    before = looks()
    for place in experiments.places():
        if place.row.name == "ACL":
            (store.folder / f"{place.cell.key}.json").unlink()
    assert len(before) == 6
    assert looks() == {look for look in before if look[0] != "ACL"}


def test_a_quantity_that_is_not_defined_leaves_its_panel_empty(store: Store) -> None:
    experiments = small("table2", seeds=1)
    fill(store, experiments)
    for place in experiments.places():
        path = store.folder / f"{place.cell.key}.json"
        result = json.loads(path.read_text())
        for measured in result["geometry"].values() if place.cell.task == "mrpc" else ():
            measured["own_label_similarity"] = None
        path.write_text(json.dumps(result))
    panels = named(experiments, store)["table2-geometry"].draw().axes
    drawn = [len(axes.containers) for axes in panels]
    assert drawn == [6, 6, 6, 6, 0, 6]  # alignment, uniformity, own label; mrpc and rte
    assert list(panels[4].get_xticks()) == [1, 2, 3, 4, 5, 6]


def test_systems_differ_by_marker_and_line_not_by_colour_alone() -> None:
    assert len({style.marker for style in STYLES}) == len(STYLES)
    assert len({style.line for style in STYLES}) == len(STYLES)
    many = [str(number) for number in range(10)]
    assert list(styles(many)) == many
