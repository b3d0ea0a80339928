"""Rows that a model knows already: from training, or from its calibration."""

from pathlib import Path
from typing import TYPE_CHECKING

from exitwise.errors import ExitwiseError

if TYPE_CHECKING:
    from exitwise.data import TextDataset


def trained_on(model: str, texts: "TextDataset") -> int | None:
    """How many of the rows a run or its model has learned from; `None` if that is not known."""
    from exitwise.run import run_of

    rows = run_of(model).read_train_rows()
    return None if rows is None else sum(row in rows for row in texts.row_hashes)


def check_unseen(model: str, texts: "TextDataset", *, force: bool) -> str | None:
    """Whether the rows are new to the model; what to tell if that is not known.

    Raises:
        ExitwiseError: some were trained on, and `force` is not given.
    """
    seen = trained_on(model, texts)
    if seen is None:
        return "whether these rows were used in training is not known here: they should not be"
    if not seen:
        return None
    words = f"{seen} of {len(texts)} rows were used in training: the model is too sure of them"
    if not force:
        raise ExitwiseError(f"{words}. Calibrate on others, or --force it")
    return words


def why_too_good(model: str, folder: Path, texts: "TextDataset") -> list[str]:
    """Why scores on these rows say too much of a model.

    Args:
        model: as the user names it.
        folder: of the model, with the report of its calibration.
        texts: the rows.
    """
    from exitwise.inference.calibration_report import read_report

    seen, report = trained_on(model, texts), read_report(folder)
    notes = []
    if seen:
        notes.append(f"{seen} of {len(texts)} rows were used in training: measure on others")
    if report is not None and report["data"]["fingerprint"] == texts.fingerprint:
        notes.append("the policy was chosen on these very rows: measure on others")
    return notes
