"""A shorter model: the first k layers with their exit, loaded as any classifier is."""

from pathlib import Path

from exitwise.encoders import truncate
from exitwise.export.new_folder import check_is_new
from exitwise.export.stock import stock_classifier
from exitwise.inference.early_exit import checked_layers
from exitwise.inference.torch_engine import TorchEngine
from exitwise.modeling import MultiExitForSequenceClassification
from exitwise.whole_files import write_folder


def export_plain(engine: TorchEngine, folder: Path, *, layer: int) -> None:
    """Writes a model of `layer` layers that answers as the exit there does.

    `AutoModelForSequenceClassification` loads it once exitwise is imported; with a linear or pooler
    exit on an encoder that has a stock class, it is that class and loads without exitwise. The
    engine's own model is cut: it cannot be used afterwards.

    Raises:
        ExitwiseError: there is no exit at that layer, or the folder exists.
    """
    model = engine.model
    checked_layers(engine, [layer])
    check_is_new(folder)
    exit, encoder = model.exit(layer), truncate(model.encoder, layer)
    short = stock_classifier(encoder, exit, engine.labels)
    if short is None:
        short = MultiExitForSequenceClassification.around(
            encoder, labels=engine.labels, exit=exit.config, exit_layers=[layer]
        )
        short.exits[str(layer)] = exit
        short.config.takes_pairs = model.config.takes_pairs

    def write(partial: Path) -> None:
        short.save_pretrained(partial)
        engine.tokenizer.save_pretrained(partial)

    write_folder(folder, write)
