"""Every declared table, recipe and overlay reads, and expands to cells."""

from pathlib import Path

import pytest

from exitwise.errors import ExitwiseError, RecipeError
from exitwise.experiments import Experiments, in_order
from exitwise.experiments.claims import GreaterClaim
from exitwise.experiments.overlay import read_overlay
from exitwise.experiments.table import Row, Table, read_named, read_tables

from .conftest import EXPERIMENTS

OVERLAYS = sorted(path.stem for path in (EXPERIMENTS / "overlays").glob("*.toml"))


def test_the_papers_tables_and_figures_are_there() -> None:
    names = {*(f"table{n}" for n in (1, 2, 3)), *(f"figure{n}" for n in range(2, 7))}
    assert set(read_tables(EXPERIMENTS)) == {*names, "variants"}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_overlay_gives_every_row_of_its_encoders_a_cell(overlay: str) -> None:
    experiments = Experiments.read(EXPERIMENTS, overlay)
    places = list(experiments.places())
    assert places
    for name, table in experiments.tables.items():
        rows = {place.row.name for place in places if place.table == name}
        runs = any(task in experiments.overlay.tasks for task in table.tasks)
        expected = {row.name for row in table.rows if experiments.overlay.can(row)}
        assert rows == (expected if runs else set())


def test_at_the_papers_scale_a_recipe_is_the_papers() -> None:
    experiments = Experiments.read(EXPERIMENTS, "paper")
    place = next(p for p in experiments.places(["table2"]) if p.row.name == "ACL")
    regime, backbone = place.cell.recipe["regime"], place.cell.backbone
    assert regime["epochs"] == 15 and regime["learning_rate"] == 2e-5  # type: ignore[index,call-overload]
    assert backbone is not None
    assert backbone.recipe["encoder"] == "FacebookAI/roberta-base"
    assert backbone.recipe["regime"]["objective"]["weight"] == 0.02  # type: ignore[index,call-overload]


def test_rows_that_share_a_backbone_share_its_cell() -> None:
    experiments = Experiments.read(EXPERIMENTS, "small").narrowed(
        encoders={}, tasks=["mrpc"], seeds=[1]
    )
    places = list(experiments.places(["table2"]))
    backbones = {place.cell.backbone.key for place in places if place.cell.backbone}
    assert len(places) == 6
    assert len(backbones) == 2  # CE and ACL
    cells = in_order(place.cell for place in places)
    assert len(cells) == 8
    for place in places:
        assert place.cell.backbone is not None
        keys = [cell.key for cell in cells]
        assert keys.index(place.cell.backbone.key) < keys.index(place.cell.key)


def test_the_default_weight_of_table_3_is_the_cell_of_table_2() -> None:
    experiments = Experiments.read(EXPERIMENTS, "paper").narrowed(
        encoders={}, tasks=["rte"], seeds=[1]
    )
    keys = {(p.table, p.row.name): p.cell.key for p in experiments.places(["table2", "table3"])}
    assert keys["table3", "ACL, λ = 0.02"] == keys["table2", "ACL"]
    assert keys["table3", "CE+SCL, λ = 0.02"] == keys["table2", "(d) CE+SCL"]


def test_a_cells_key_depends_on_neither_the_data_folder_nor_the_run_folder(tmp_path: Path) -> None:
    experiments = Experiments.read(EXPERIMENTS, "smoke")
    cell = next(iter(experiments.places(["table2"]))).cell
    recipe = cell.placed(tmp_path, "some/where")
    assert recipe.data.data_dir == "some/where"
    assert "data_dir" not in cell.recipe["data"]  # type: ignore[operator]
    assert cell.backbone is not None
    assert cell.recipe["start_from"] == f"cell:{cell.backbone.key}"
    assert recipe.start_from == str(tmp_path / cell.backbone.key)


def test_half_and_quarter_follow_the_encoders_depth() -> None:
    small, paper = (read_overlay(EXPERIMENTS, name).encoders["bert"] for name in ("small", "paper"))
    assert (small.variables, paper.variables) == (
        {"half": 3, "quarter": 1},
        {"half": 6, "quarter": 3},
    )


def test_a_row_of_an_encoder_that_the_overlay_lacks_is_left_out(tmp_path: Path) -> None:
    overlay = (EXPERIMENTS / "overlays" / "small.toml").read_text()
    start = overlay.index("[encoders.bert]")
    end = overlay.index("[encoders.roberta]")
    for name in ("tables", "recipes"):
        (tmp_path / name).symlink_to(EXPERIMENTS / name)
    (tmp_path / "overlays").mkdir()
    (tmp_path / "overlays" / "small.toml").write_text(overlay[:start] + overlay[end:])
    places = Experiments.read(tmp_path, "small").places(["table1"])
    assert {place.row.encoder for place in places} == {"roberta"}


def test_what_an_encoder_cannot_be_trained_by_is_left_out() -> None:
    """MPNet's heads are not removed and its attention is not distilled."""
    rows = {place.row.name for place in Experiments.read(EXPERIMENTS, "base").places(["table1"])}
    assert "ACL-BERT-6L" in rows
    assert not rows & {"HeadPrune", "TinyBERT (6L)"}


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("single_exit =", "singel_exit =", "overlay small: regimes names 'singel_exit'"),
        ("layer_drop =", "layerdrop =", "overlay small: compressions names 'layerdrop'"),
        ("cola = {", "kola = {", "overlay small: by_task names 'kola'"),
        ("rte = [", "rtee = [", "overlay small: seeds_of names 'rtee'"),
        ("seeds = [", 'without = ["scl"]\nseeds = [', "overlay small: without names 'scl'"),
        ("seeds = [", 'tasks_of = { table9 = ["rte"] }\nseeds = [', "tasks_of names 'table9'"),
    ],
)
def test_a_name_in_an_overlay_that_means_nothing_is_refused(
    tmp_path: Path, before: str, after: str, message: str
) -> None:
    written = (EXPERIMENTS / "overlays" / "small.toml").read_text()
    assert before in written
    for name in ("tables", "recipes"):
        (tmp_path / name).symlink_to(EXPERIMENTS / name)
    (tmp_path / "overlays").mkdir()
    (tmp_path / "overlays" / "small.toml").write_text(written.replace(before, after, 1))
    with pytest.raises(RecipeError, match=message):
        Experiments.read(tmp_path, "small")


def test_a_table_without_any_task_of_the_overlay_is_refused() -> None:
    experiments = Experiments.read(EXPERIMENTS, "base")
    with pytest.raises(
        ExitwiseError, match="nothing would be run: figure2 has the tasks rte, here"
    ):
        experiments.check_runs(["figure2"])
    experiments.check_runs(["table2", "figure2"])
    experiments.check_runs(["all"])


def test_two_rows_of_one_name_are_refused() -> None:
    row = Row(name="CE", encoder="bert", recipe="ce")
    with pytest.raises(ValueError, match="found twice: CE"):
        Table(title="t", source="s", columns=("rte",), rows=(row, row))


def test_a_claim_about_no_row_is_refused() -> None:
    row = Row(name="CE", encoder="bert", recipe="ce")
    claim = GreaterClaim(text="t", source="s", better="CE", worse="SCL")
    with pytest.raises(ValueError, match="a row that the table lacks: SCL"):
        Table(title="t", source="s", columns=("rte",), rows=(row,), claims=(claim,))


def test_a_number_for_no_column_is_refused() -> None:
    row = Row(name="CE", encoder="bert", recipe="ce", paper={"sst2": 1.0})
    with pytest.raises(ValueError, match="name no column of the table: \\['sst2'\\]"):
        Table(title="t", source="s", columns=("rte",), rows=(row,))


def test_what_is_wrong_in_a_table_is_told_with_its_file(tmp_path: Path) -> None:
    file = tmp_path / "table9.toml"
    file.write_text('title = "t"\nsource = "s"\ncolumns = ["rte"]\nrowz = []\n')
    with pytest.raises(RecipeError, match=r"table9\.toml: .*rowz"):
        read_named(Table, file)


@pytest.mark.parametrize(
    ("folder", "overlay", "tables", "message"),
    [
        ("nowhere", "small", ["all"], "no tables"),
        (EXPERIMENTS, "huge", ["all"], "no overlay 'huge'"),
        (EXPERIMENTS, "small", ["table9"], "no table 'table9'"),
    ],
)
def test_what_is_not_there_is_named(
    folder: Path | str, overlay: str, tables: list[str], message: str
) -> None:
    with pytest.raises(ExitwiseError, match=message):
        Experiments.read(Path(folder), overlay).chosen(tables)


def test_narrowing_to_what_an_overlay_lacks_is_refused() -> None:
    experiments = Experiments.read(EXPERIMENTS, "small")
    with pytest.raises(ExitwiseError, match=r"no task qqp \(it has mrpc, rte, cola, sst2\)"):
        experiments.narrowed(encoders={}, tasks=["qqp"])
    with pytest.raises(ExitwiseError, match="no seed 9"):
        experiments.narrowed(encoders={}, seeds=[9])
    with pytest.raises(ExitwiseError, match="no encoder t5"):
        experiments.narrowed(encoders={"t5": "x"})
