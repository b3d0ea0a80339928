"""`exitwise reproduce`: the plan, the run and its end."""

import shutil
from pathlib import Path

import pytest

from exitwise.cli.app import main
from exitwise.experiments import Runs, runner

EXPERIMENTS = Path(__file__).parents[2] / "experiments"


def reproduce(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["reproduce", *map(str, arguments), "--experiments", str(EXPERIMENTS)])
    said = capsys.readouterr()
    code = ended.value.code
    assert isinstance(code, int)
    return code, said.out, said.err


def test_a_plan_lists_every_cell_and_writes_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    options = ("--overlay", "paper", "--tasks", "rte", "--seeds", "1,2", "--plan")
    code, out, _ = reproduce(capsys, "table2", "figure6", *options, "--results", tmp_path / "r")
    assert code == 0
    lines = out.splitlines()
    assert lines[0].startswith("16 cells: 0 done, 0 failed, 16 to run")
    assert lines[1].endswith("  acl rte seed 1")
    assert len(lines) == 17
    assert not list(tmp_path.iterdir())


def test_a_table_is_run_and_shown_beside_the_papers_numbers(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, tiny_path: str, tiny_glue: Path
) -> None:
    options = (
        *("--overlay", "smoke", "--encoder", f"bert={tiny_path}", "--data-dir", tiny_glue),
        *("--results", tmp_path / "results", "--runs", tmp_path / "runs"),
    )
    code, out, _ = reproduce(capsys, "figure2", *options)
    assert code == 0
    assert "3 cells: 0 done, 0 failed, 3 to run; about 0 minutes and 3 not known yet" in out
    assert "3 observations: 0 done, 0 failed, 3 to look up" in out
    assert "| A: CE | 50.0 (1) [65.3] |" in out
    code, out, _ = reproduce(capsys, "figure2", *options)
    assert "3 cells: 3 done, 0 failed, 0 to run; about 0 minutes\n" in out
    assert "3 observations: 3 done, 0 failed, 0 to look up\n" in out


def test_an_observation_that_fails_is_told_like_a_cell_and_only_tried_again_if_asked(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    tiny_path: str,
    tiny_glue: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    options = (
        *("figure2", "--overlay", "smoke", "--encoder", f"bert={tiny_path}"),
        *("--data-dir", tiny_glue, "--results", tmp_path / "results", "--runs", tmp_path / "runs"),
    )
    with monkeypatch.context() as patch:
        patch.setattr(runner, "angles", out_of_memory)
        code, out, err = reproduce(capsys, *options)
        assert code == 2
        assert err.splitlines()[-1].startswith("exitwise: 3 failed, ce rte seed 1, angles first")
    code, out, _ = reproduce(capsys, *options)
    assert code == 0
    assert "3 cells: 3 done, 0 failed, 0 to run; about 0 minutes\n" in out
    assert "3 observations: 0 done, 3 failed, 0 to look up\n" in out
    code, out, _ = reproduce(capsys, *options, "--retry")
    assert "3 observations: 0 done, 3 failed, 3 to look up\n" in out
    code, out, _ = reproduce(capsys, *options)
    assert "3 observations: 3 done, 0 failed, 0 to look up\n" in out


def out_of_memory(*_: object) -> None:
    raise RuntimeError("out of memory")


def test_a_failed_cell_ends_the_command_in_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, tiny_path: str, tiny_glue: Path
) -> None:
    broken = tmp_path / "broken"  # its configuration alone is whole
    shutil.copytree(tiny_path, broken)
    (broken / "model.safetensors").unlink()
    options = (
        *("--overlay", "smoke", "--encoder", f"bert={broken}", "--data-dir", tiny_glue),
        *("--results", tmp_path / "results", "--runs", tmp_path / "runs"),
    )
    code, _, err = reproduce(capsys, "figure2", *options)
    assert code == 2
    assert err.splitlines()[-1].startswith("exitwise: 3 failed, ce rte seed 1 first")
    assert "--retry" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["table9"], "no table 'table9'"),
        (["table2", "--overlay", "huge"], "no overlay 'huge'"),
        (["table2", "--seeds", "one"], "--seeds is a list such as 1,2, found 'one'"),
        (["table2", "--tasks", "stsb"], "the overlay has no task stsb"),
        (["table2", "--encoder", "bert=none"], "the encoder none cannot be read"),
        (["figure2", "--overlay", "base", "--plan"], "nothing would be run: figure2 has"),
        (["table2", "--encoder", "bert"], "--encoder reads NAME=PATH, found 'bert'"),
    ],
)
def test_what_is_wrong_is_one_line(
    capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    code, _, err = reproduce(capsys, *options)
    assert code == 2
    assert message in err
    assert len(err.strip().splitlines()) == 1


def test_a_second_call_in_the_same_folder_is_refused_in_a_line_that_names_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, tiny_path: str, tiny_glue: Path
) -> None:
    options = (
        *("--overlay", "smoke", "--encoder", f"bert={tiny_path}", "--data-dir", tiny_glue),
        *("--results", tmp_path / "results", "--runs", tmp_path / "runs"),
    )
    runs = Runs(tmp_path / "runs")
    with runs.alone():
        code, _, err = reproduce(capsys, "figure2", *options)
    assert code == 2
    assert err.splitlines()[-1] == (
        f"exitwise: another exitwise reproduce is at work in {runs.folder}: "
        "wait for its end, or name another folder with --runs"
    )
    assert not (tmp_path / "results").exists()
