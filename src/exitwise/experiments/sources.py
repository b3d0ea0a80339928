"""Whether encoders and data are what the plan takes them for, asked before the first cell."""

from collections.abc import Iterable
from pathlib import Path

from exitwise.data import load_task
from exitwise.errors import ExitwiseError
from exitwise.experiments.cell import Cell
from exitwise.experiments.overlay import Overlay


def num_layers_of(encoder: str) -> int:
    """M by the configuration of an encoder, the one file of it that is read.

    Args:
        encoder: a folder or hub id.

    Raises:
        ExitwiseError: it cannot be read.
    """
    from transformers import AutoConfig  # a table is read and shown without

    try:
        return int(AutoConfig.from_pretrained(encoder).num_hidden_layers)
    except (OSError, ValueError, AttributeError) as error:
        raise ExitwiseError(
            f"the encoder {encoder} cannot be read ({str(error).splitlines()[0]}): give one that "
            "is there with --encoder NAME=PATH"
        ) from error


def check_sources(cells: Iterable[Cell], overlay: Overlay, data_dir: str | Path | None) -> None:
    """Reads each task once, and the depth of each encoder, which decides what rows mean.

    Args:
        cells: that will be run.
        overlay: the scale.
        data_dir: the folder of the tasks' files; `None` for the hub.

    Raises:
        DataError: the files of a task cannot be used.
        ExitwiseError: an encoder cannot be read, or has not as many layers as the overlay says.
    """
    cells = list(cells)
    used = {(cell.backbone or cell).recipe["encoder"] for cell in cells}
    for name, source in overlay.encoders.items():
        found = num_layers_of(source.path) if source.path in used else source.layers
        if found != source.layers:
            raise ExitwiseError(
                f"{source.path} has {found} layers, the overlay says {source.layers}: correct "
                f"layers of [encoders.{name}] in it"
            )
    for task in dict.fromkeys(cell.task for cell in cells):
        load_task(task, data_dir)
