"""A shorter model: the first k layers with their exit, loaded as any classifier is."""

from pathlib import Path

from exitwise.encoders import truncate
from exitwise.export.new_folder import check_is_new
from exitwise.inference.early_exit import checked_layers
from exitwise.inference.torch_engine import TorchEngine
from exitwise.modeling import MultiExitForSequenceClassification
from exitwise.whole_files import write_folder


def export_plain(engine: TorchEngine, folder: Path, *, layer: int) -> None:
    """Writes a model of `layer` layers that answers as the exit there does.

    `AutoModelForSequenceClassification` loads it once exitwise is imported. The engine's own model
    is cut: it cannot be used afterwards.

    Raises:
        ExitwiseError: there is no exit at that layer, or the folder exists.
    """
    model = engine.model
    checked_layers(engine, [layer])
    check_is_new(folder)
    exit = model.exit(layer)
    short = MultiExitForSequenceClassification.around(
        truncate(model.encoder, layer),
        labels=engine.labels,
        exit=exit.config,
        exit_layers=[layer],
    )
    short.exits[str(layer)] = exit

    def write(partial: Path) -> None:
        short.save_pretrained(partial)
        engine.tokenizer.save_pretrained(partial)

    write_folder(folder, write)
