"""Exits on a classifier that is trained already."""

from pathlib import Path

from exitwise.exits import ExitConfig, MHAExitConfig, exit_settings
from exitwise.modeling.config import MultiExitConfig
from exitwise.modeling.model import MultiExitForSequenceClassification


def from_classifier(
    name_or_path: str | Path,
    *,
    exit: ExitConfig = MHAExitConfig(),  # noqa: B008 - frozen
) -> MultiExitForSequenceClassification:
    """A trained classifier whose encoder and last exit are kept, with fresh exits below it."""
    trained = MultiExitForSequenceClassification.from_pretrained(name_or_path)
    last = trained.num_layers
    config = MultiExitConfig(
        encoder=trained.encoder.config,
        exit=exit_settings(exit),
        last_exit=exit_settings(trained.exit(last).config),
        id2label=trained.config.id2label,
        label2id=trained.config.label2id,
    )
    model = MultiExitForSequenceClassification(config)
    model.encoder = trained.encoder
    model.exits[str(last)] = trained.exit(last)
    return model
