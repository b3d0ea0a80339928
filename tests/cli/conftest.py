"""The program in this process, and what it needs: files, a tiny encoder, a trained run."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from exitwise.cli import main
from exitwise.cli.reports import package, reports

TEXTS = {
    "negative": ("the film was not good", "a very bad plot", "dull and long", "it never ends"),
    "positive": ("the story was great", "a good film", "great movie !", "very warm and good"),
}


class Outcome(NamedTuple):
    status: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture
def exitwise(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the program; its arguments are made text."""

    def run(*arguments: object) -> Outcome:
        capsys.readouterr()
        reports.width = 250  # no line is broken, however long the folder of the test is
        with pytest.raises(SystemExit) as ended:
            main([str(each) for each in arguments])
        package.handlers.clear()
        package.setLevel(logging.NOTSET)
        status = ended.value.code
        return Outcome(status if isinstance(status, int) else 0, *capsys.readouterr())

    return run


@pytest.fixture
def encoder(
    tmp_path_factory: pytest.TempPathFactory,
    tiny_encoder: Callable[..., PreTrainedModel],
    tiny_tokenizer: PreTrainedTokenizerFast,
) -> Path:
    """A folder with an encoder of three layers and its tokenizer; made once."""
    folder = tmp_path_factory.getbasetemp() / "encoder"
    if not folder.exists():
        tiny_encoder("bert").save_pretrained(folder)
        tiny_tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of 32 labelled texts; made once."""
    path = tmp_path_factory.getbasetemp() / "labelled.csv"
    rows = [f"{text},{label}" for label, texts in TEXTS.items() for text in texts]
    path.write_text("\n".join(["text,label", *rows * 4]) + "\n")
    return path


@pytest.fixture
def quick(encoder: Path, labelled: Path) -> list[object]:
    """Arguments of `train` and `plan`: two stages in a second."""
    settings = (
        *("exit.width=8", "training.precision=fp32", "training.warmup=0"),
        *("training.micro_batch=4", "training.accumulation=1"),
        *("regime.backbone.epochs=10", "regime.backbone.learning_rate=3e-3"),
        *("regime.exits.epochs=2", "regime.exits.learning_rate=3e-2"),
    )
    sources = ["--encoder", encoder, "--train", labelled, "--validation", labelled]
    return [*sources, *(each for setting in settings for each in ("--set", setting))]


@pytest.fixture
def trained(tmp_path_factory: pytest.TempPathFactory, exitwise: Run, quick: list[object]) -> Path:
    """A finished run of exits 1, 2 and 3, which answers negative or positive; made once.

    What was told meanwhile lies beside it.
    """
    folder = tmp_path_factory.getbasetemp() / "trained"
    if not folder.exists():
        outcome = exitwise("train", *quick, "-o", folder)
        assert outcome.status == 0, outcome.err
        folder.with_suffix(".err").write_text(outcome.err)
    return folder
