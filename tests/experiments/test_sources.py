"""Encoders and data are looked at before anything is trained."""

from pathlib import Path

import pytest
from transformers import BertConfig

from exitwise.errors import DataError, ExitwiseError
from exitwise.experiments import Experiments, check_sources
from exitwise.experiments.sources import num_layers_of

from .conftest import EXPERIMENTS


def with_encoder(path: str) -> Experiments:
    read = Experiments.read(EXPERIMENTS, "smoke")
    return read.narrowed(encoders={"bert": path, "roberta": path}, tasks=["rte"])


@pytest.fixture
def shallow(tmp_path: Path) -> str:
    """An encoder of four layers where overlays have one of six."""
    BertConfig(num_hidden_layers=4).save_pretrained(tmp_path / "shallow")
    return str(tmp_path / "shallow")


def test_another_encoder_brings_its_own_depth(shallow: str) -> None:
    assert num_layers_of(shallow) == 4
    experiments = Experiments.read(EXPERIMENTS, "smoke").narrowed(encoders={"bert": shallow})
    half = next(p for p in experiments.places(["table1"]) if p.row.name == "BERT-6L")
    assert half.cell.recipe["encoder"] == shallow
    assert half.cell.recipe["num_layers"] == 2


def test_an_encoder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExitwiseError, match=r"none cannot be read .*--encoder NAME"):
        with_encoder(str(tmp_path / "none"))


def test_a_depth_that_the_overlay_misstates_is_refused(
    tmp_path: Path, shallow: str, tiny_glue: Path
) -> None:
    written = (EXPERIMENTS / "overlays" / "smoke.toml").read_text()
    for name in ("tables", "recipes"):
        (tmp_path / name).symlink_to(EXPERIMENTS / name)
    (tmp_path / "overlays").mkdir()
    file = tmp_path / "overlays" / "smoke.toml"
    file.write_text(written.replace("models/all-MiniLM-L6-v2", shallow))
    experiments = Experiments.read(tmp_path, "smoke")
    cells = [place.cell for place in experiments.places(["figure2"])]
    with pytest.raises(ExitwiseError, match="has 4 layers, the overlay says 6: correct layers of"):
        check_sources(cells, experiments.overlay, tiny_glue)


def test_missing_data_are_told_before_the_first_cell(
    tmp_path: Path, tiny_path: str, tiny_glue: Path
) -> None:
    experiments = with_encoder(tiny_path)
    cells = [place.cell for place in experiments.places(["table3"])]
    check_sources(cells, experiments.overlay, tiny_glue)
    with pytest.raises(DataError, match=r"holds neither train\.parquet nor"):
        check_sources(cells, experiments.overlay, tmp_path)
