"""How the cost of contrast grows with the batch, and that of a step with what it is made of.

The contrastive loss compares all pairs, so that alone it is quadratic in the batch; everything
else is linear. The exponent is the slope of log time over log size between the two largest sizes.
"""

import math
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib
import torch
from harness import Claim, arguments, seconds, write_claims
from transformers import BertConfig

from exitwise.encoders import build_encoder
from exitwise.losses import aligned_contrastive_loss
from exitwise.modeling import MultiExitForSequenceClassification

matplotlib.use("Agg")
from matplotlib import pyplot as plt

WIDTH = 64
"""Of the exit's embedding."""


def contrast(batch: int, classes: int) -> Callable[[], None]:
    """Forward and backward pass of the loss alone."""
    embeddings = torch.randn(batch, WIDTH, requires_grad=True)
    label_embeddings = torch.randn(classes, WIDTH, requires_grad=True)
    labels = torch.arange(batch) % classes

    def run() -> None:
        aligned_contrastive_loss(embeddings, label_embeddings, labels).backward()

    return run


def forward(batch: int, length: int, layers: int) -> Callable[[], None]:
    """The forward pass of a small encoder with an exit a layer."""
    config = BertConfig(
        vocab_size=1000,
        hidden_size=128,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=512,
    )
    labels = ("no", "yes")
    model = MultiExitForSequenceClassification.around(build_encoder(config), labels=labels).eval()
    ids = torch.randint(5, 1000, (batch, length))
    mask = torch.ones_like(ids)

    @torch.no_grad()
    def run() -> None:
        model.exit_outputs(ids, mask)

    return run


def series(
    make: Callable[[int], Callable[[], object]], sizes: Sequence[int], rounds: int
) -> list[float]:
    """The median seconds at each size, all sizes in turn."""
    actions = [make(size) for size in sizes]
    for action in actions:
        action()
    times = [[seconds(action) for action in actions] for _ in range(rounds)]
    return [statistics.median(each) for each in zip(*times, strict=True)]


def main() -> None:
    """Measures, draws `results/growth.png` and writes `results/growth.json`."""
    options = arguments(__doc__, rounds=15)
    torch.manual_seed(0)
    cases: dict[str, tuple[Callable[[int], Callable[[], object]], list[int]]] = {
        "contrast, texts in the batch": (lambda n: contrast(n, 2), [64, 256, 1024, 2048, 4096]),
        "contrast, classes": (lambda k: contrast(32, k), [2, 16, 128, 1024]),
        "encoder and exits, texts in the batch": (
            lambda n: forward(n, 32, 4),
            [8, 16, 32, 64, 128],
        ),
        "encoder and exits, length": (lambda n: forward(16, n, 4), [16, 32, 64, 128]),
        "encoder and exits, layers": (lambda n: forward(16, 32, n), [2, 4, 8, 16]),
    }
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    claims = []
    for (name, (make, sizes)), style in zip(cases.items(), "os^vD", strict=True):
        times = series(make, sizes, options.rounds)
        exponent = math.log(times[-1] / times[-2]) / math.log(sizes[-1] / sizes[-2])
        claims.append(
            Claim(
                claim=f"growth: exponent of time over size, {name} ({sizes[-2]} to {sizes[-1]})",
                value=exponent,
                details={
                    f"ms at {size}": time * 1e3 for size, time in zip(sizes, times, strict=True)
                },
            )
        )
        axes.loglog(sizes, [time * 1e3 for time in times], marker=style, label=name)
    axes.set_xlabel("size")
    axes.set_ylabel("milliseconds")
    axes.legend(fontsize="small")
    axes.grid(visible=True, which="major", linewidth=0.3)
    write_claims("growth", claims)
    figure.savefig(Path(__file__).parent / "results" / "growth.png", dpi=120)


if __name__ == "__main__":
    main()
