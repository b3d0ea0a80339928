"""A shorter model: the first k layers with their exit, loaded as any classifier is."""

from pathlib import Path

from exitwise.encoders import truncate
from exitwise.errors import ExitwiseError
from exitwise.inference.torch_engine import TorchEngine
from exitwise.modeling import MultiExitForSequenceClassification


def export_plain(engine: TorchEngine, folder: Path, *, layer: int) -> None:
    """Writes a model of `layer` layers that answers as the exit there does.

    `AutoModelForSequenceClassification` loads it once exitwise is imported. The engine's own model
    is cut: it cannot be used afterwards.

    Raises:
        ExitwiseError: there is no exit at that layer, or the folder exists.
    """
    model = engine.model
    if layer not in model.exit_layers:
        there = ", ".join(map(str, model.exit_layers))
        raise ExitwiseError(f"no exit at layer {layer}: the model has exits at {there}")
    if folder.exists():
        raise ExitwiseError(f"{folder} exists: export to a new folder, or remove it")
    exit = model.exit(layer)
    short = MultiExitForSequenceClassification.around(
        truncate(model.encoder, layer),
        labels=engine.labels,
        exit=exit.config,
        exit_layers=[layer],
    )
    short.exits[str(layer)] = exit
    partial = folder.with_name(folder.name + ".partial")
    short.save_pretrained(partial)
    engine.tokenizer.save_pretrained(partial)
    partial.rename(folder)
