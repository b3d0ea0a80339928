"""The few lines that a saved model says of itself."""

from os import PathLike
from pathlib import Path
from typing import Any

from exitwise.modeling.config import MultiExitConfig

CARD = """\
---
library_name: transformers
pipeline_tag: text-classification
tags:
- exitwise
- early-exit
---

# A text classifier with exits

{encoder} with {num_layers} layers and an exit after {exits}.
Labels: {labels}.

The model is of a type that transformers does not know by itself. Import exitwise first
(`pip install 'exitwise[train]'`):

```python
import exitwise
from transformers import pipeline

classify = pipeline("text-classification", model="path/to/this/folder")
```

Here the last exit answers. For the answers of every exit:

```python
from exitwise import MultiExitForSequenceClassification

model = MultiExitForSequenceClassification.from_pretrained("path/to/this/folder")
outputs = model.exit_outputs(**inputs)  # by layer: logits, embedding, label embeddings
```
"""


def write_model_card(folder: str | PathLike[Any], config: MultiExitConfig) -> None:
    """Puts a `README.md` into a folder that has none."""
    card = Path(folder) / "README.md"
    if card.exists():
        return
    last = config.num_hidden_layers
    every = config.exit_layers == list(range(1, last + 1))
    text = CARD.format(
        encoder=config.encoder_config.model_type,
        num_layers=last,
        exits="each" if every else f"layer {', '.join(map(str, config.exit_layers))}",
        labels=", ".join(config.label_names),
    )
    card.write_text(text, encoding="utf-8")
