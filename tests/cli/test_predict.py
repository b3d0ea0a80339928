import csv
import io
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from exitwise.cli.predict import CHUNK
from exitwise.inference import probabilities
from exitwise.inference.torch_engine import TorchEngine

Run = Callable[..., Any]

PROGRAM = [sys.executable, "-c", "from exitwise.cli import main; main()"]

WORDS = ["good", "bad", "great", "dull", "warm", "cold", "film", "plot", "story", "never", "very"]


def sentences(count: int) -> list[str]:
    """Texts of one word to many, in no order of length."""
    random = np.random.default_rng(0)
    return [" ".join(random.choice(WORDS, size=random.integers(1, 20))) for _ in range(count)]


def write_lines(path: Path, texts: list[str]) -> Path:
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return path


def parsed(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


@pytest.mark.field_case(53)
@pytest.mark.parametrize("layer", [None, 1])
def test_texts_are_answered_in_order_by_name_of_the_class(
    exitwise: Run, trained: Path, tmp_path: Path, layer: int | None
) -> None:
    texts = sentences(CHUNK + 7)  # the last chunk is a short one
    path = write_lines(tmp_path / "texts.jsonl", texts)
    outcome = exitwise("predict", trained, path, *(["--layer", layer] if layer else []))
    engine = TorchEngine.from_pretrained(trained)
    expected = probabilities(engine.logits(texts, layers=[layer or 3])[0])
    found = parsed(outcome.out)
    assert [each["row"] for each in found] == list(range(1, len(texts) + 1))
    assert [each["label"] for each in found] == [engine.labels[p.argmax()] for p in expected]
    assert [each["probability"] for each in found] == pytest.approx(expected.max(axis=-1), abs=1e-4)
    assert {each["layer"] for each in found} == {layer or 3}
    assert len({each["probability"] for each in found}) > 10  # so that order can be seen


def test_a_pair_is_answered_as_a_pair(exitwise: Run, trained: Path, tmp_path: Path) -> None:
    path, model = tmp_path / "pairs.csv", tmp_path / "model"
    path.write_text("sentence1,sentence2\ngood,bad\ngood,a very long story\n")
    refused = exitwise("predict", trained, path)
    assert "trained on single texts and got pairs" in refused.err and refused.status != 0
    one = exitwise("predict", trained, path, "--text-column", "sentence1")
    assert [each["row"] for each in parsed(one.out)] == [1, 2]
    shutil.copytree(trained / "model", model)
    config = json.loads((model / "config.json").read_text())
    assert config["takes_pairs"] is False
    (model / "config.json").write_text(json.dumps(config | {"takes_pairs": True}))
    engine = TorchEngine.from_pretrained(model)
    pairs = engine.logits(["good", "good"], ["bad", "a very long story"], layers=[3])[0]
    (first, second) = parsed(exitwise("predict", model, path, "--keep-text").out)
    assert (second["text"], second["pair"]) == ("good", "a very long story")
    assert [first["probability"], second["probability"]] == pytest.approx(
        probabilities(pairs).max(axis=-1), abs=1e-4
    )


@pytest.mark.parametrize("by_name", [True, False])
def test_csv_has_a_header_and_the_texts_on_request(
    exitwise: Run, trained: Path, tmp_path: Path, by_name: bool
) -> None:
    texts = ['a "good" film, very', "NA"]
    source, target = write_lines(tmp_path / "in.jsonl", texts), tmp_path / "out.csv"
    arguments = ["predict", trained, source, "--keep-text"]
    outcome = exitwise(*arguments, *(["-o", target] if by_name else ["--format", "csv"]))
    rows = list(csv.DictReader(io.StringIO(target.read_text() if by_name else outcome.out)))
    assert [row["text"] for row in rows] == texts
    assert list(rows[0]) == ["row", "label", "probability", "layer", "text"]


def test_standard_input_is_answered_and_quiet_is_silent(trained: Path) -> None:
    done = run_program("predict", "-q", trained, stdin="a good film\na bad plot\n")
    assert done.returncode == 0
    assert done.stderr == ""
    assert [each["row"] for each in parsed(done.stdout)] == [1, 2]


def run_program(*arguments: object, stdin: str) -> subprocess.CompletedProcess[str]:
    command = [*PROGRAM, *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, text=True)


def test_a_reader_that_has_seen_enough_is_no_error(trained: Path, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "texts.jsonl", sentences(4 * CHUNK))
    command = [*PROGRAM, "predict", "-q", str(trained), str(source)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        program.stdout.readline()
        program.stdout.close()
        assert program.stderr.read() == b""


def test_a_bad_row_of_a_file_is_named_before_any_is_answered(
    exitwise: Run, trained: Path, tmp_path: Path
) -> None:
    path = write_lines(tmp_path / "texts.jsonl", ["good", "bad", " ", "dull"])
    outcome = exitwise("predict", "-q", trained, path)
    assert outcome.status == 2
    assert outcome.out == ""
    assert outcome.err.count("\n") == 1
    assert "row 3" in outcome.err


def test_a_bad_row_of_standard_input_is_named_after_the_answers_before_it(trained: Path) -> None:
    done = run_program("predict", "-q", trained, stdin="good\nbad\n \ndull\n")
    assert done.returncode == 2
    assert [each["row"] for each in parsed(done.stdout)] == [1, 2]
    assert done.stderr.count("\n") == 1
    assert "standard input, row 3" in done.stderr


def test_the_bar_knows_how_many_rows_there_are(
    exitwise: Run, trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[int | None, list[int]]] = []

    @contextmanager
    def bar(doing: str, total: int | None, **settings: Any) -> Iterator[Callable[[int], None]]:
        told.append((total, []))
        yield told[-1][1].append

    monkeypatch.setattr("exitwise.cli.predict.bar", bar)
    path = write_lines(tmp_path / "texts.jsonl", sentences(CHUNK + 7))
    assert exitwise("predict", trained, path).status == 0
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"good\nbad\n")))
    assert exitwise("predict", trained).status == 0
    assert told == [(CHUNK + 7, [CHUNK, 7]), (None, [2])]


@pytest.mark.field_case(58)
def test_a_text_longer_than_the_model_takes_is_cut_and_answered(
    exitwise: Run, trained: Path, tmp_path: Path
) -> None:
    path = write_lines(tmp_path / "texts.jsonl", ["good " * 500, "good " * 62])
    whole, fitting = parsed(exitwise("predict", trained, path).out)
    assert whole["probability"] == pytest.approx(fitting["probability"], abs=1e-5)


def test_a_layer_without_exit_is_refused_with_those_that_have_one(
    exitwise: Run, trained: Path
) -> None:
    outcome = exitwise("predict", "-q", trained, "anything.csv", "--layer", 9)
    assert outcome.status == 2
    assert "no exit at layer 9: the model has exits at 1, 2, 3" in outcome.err


def test_a_file_is_replaced_only_on_request_and_only_as_a_whole(
    exitwise: Run, trained: Path, tmp_path: Path
) -> None:
    good = write_lines(tmp_path / "good.jsonl", ["good"])
    bad = write_lines(tmp_path / "bad.jsonl", ["good", ""])
    target = tmp_path / "answers.jsonl"
    target.write_text("before")
    refused = exitwise("predict", "-q", trained, good, "-o", target)
    broken = exitwise("predict", "-q", trained, bad, "-o", target, "--force")
    assert (refused.status, broken.status) == (2, 2)
    assert "--force" in refused.err
    assert target.read_text() == "before"
    assert exitwise("predict", "-q", trained, good, "-o", target, "--force").status == 0
    assert len(parsed(target.read_text())) == 1


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU to run on")
def test_a_gpu_that_is_not_there_is_refused(exitwise: Run, trained: Path, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "texts.jsonl", ["good"])
    outcome = exitwise("predict", trained, path, "--device", "cuda")
    assert outcome.status == 2
    assert "PyTorch finds no GPU here" in outcome.err
    assert exitwise("predict", trained, path, "--device", "cpu").status == 0
