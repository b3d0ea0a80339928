"""A classifier from texts in memory: trained on most of them, calibrated on the rest."""

import json
import logging
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from exitwise.calibration import Goal, calibrate, check_rows
from exitwise.columns import by_name, check_as_many, check_texts, label_names
from exitwise.errors import ExitwiseError
from exitwise.inference.torch_engine import TorchEngine
from exitwise.policies import ConfidencePolicy, ExitPolicy
from exitwise.recipe import Recipe, apply_overrides, from_plain
from exitwise.run.train import train

logger = logging.getLogger(__name__)

DEFAULTS = (
    "regime.backbone.epochs=4",
    "regime.backbone.learning_rate=3e-5",
    "regime.backbone.exit_learning_rate=1e-3",
    "regime.exits.epochs=5",
    "regime.exits.learning_rate=1e-3",
)
"""Of small encoders and few rows; docs/results.md says what they were chosen on."""


def fit_classifier(
    encoder: str,
    texts: Sequence[Any],
    labels: Sequence[Any],
    pairs: Sequence[Any] | None,
    *,
    max_drop: float,
    calibration_share: float,
    seed: int,
    overrides: Sequence[str] = (),
) -> tuple[TorchEngine, ExitPolicy]:
    """The engine and the policy; nothing is left on the disk.

    Args:
        encoder: a folder or hub id of a pre-trained encoder.
        texts: to learn from.
        labels: one a text, of any type; they are made text.
        pairs: the second text of each, if there are pairs.
        max_drop: points of accuracy that early exit may lose.
        calibration_share: of the texts, held back from training.
        seed: of all that is drawn.
        overrides: keys of the recipe and their values, as for `exitwise train --set`.

    Raises:
        ExitwiseError: texts, pairs and labels are not as many or too few, or one is no text or
            missing.
    """
    rows = labelled_rows(texts, labels, pairs)
    names = [row["label"] for row in rows]
    try:
        learned, held_out = train_test_split(
            np.arange(len(rows)), test_size=calibration_share, random_state=seed, stratify=names
        )
        check_rows([names[row] for row in held_out])  # before it is trained for nothing
    except (ValueError, ExitwiseError) as error:
        raise ExitwiseError(
            f"too few texts to hold back a share of {calibration_share} for calibration: {error}; "
            "give more texts or a larger calibration_share"
        ) from None
    with tempfile.TemporaryDirectory() as folder:
        file, run = Path(folder) / "texts.jsonl", Path(folder) / "run"
        lines = [json.dumps(rows[row]) + "\n" for row in learned]
        file.write_text("".join(lines), encoding="utf-8")
        data = {"train": str(file), "text_column": "text", "label_column": "label"}
        plain = {
            "encoder": encoder,
            "seed": seed,
            "data": data if pairs is None else data | {"pair_column": "pair"},
        }
        train(from_plain(Recipe, apply_overrides(plain, [*DEFAULTS, *overrides])), run)
        engine = TorchEngine.from_pretrained(run)
    kept = [rows[row] for row in held_out]
    found = calibrate(
        engine.logits(
            [row["text"] for row in kept], None if pairs is None else [row["pair"] for row in kept]
        ),
        np.array([engine.labels.index(row["label"]) for row in kept]),
        engine.exit_layers,
        kind=ConfidencePolicy(threshold=None),
        goal=Goal(max_drop=max_drop),
        costs=[float(layer) for layer in engine.exit_layers],
    )
    for note in found.notes:
        logger.info(note)
    return engine, found.policy


def labelled_rows(
    texts: Sequence[Any], labels: Sequence[Any], pairs: Sequence[Any] | None
) -> list[dict[str, str]]:
    """Texts, pairs and labels side by side; labels as text."""
    columns = by_name(texts, pairs)
    for name, column in columns.items():
        check_texts(column, name)
    columns["label"] = label_names(labels)
    check_as_many(columns)
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
