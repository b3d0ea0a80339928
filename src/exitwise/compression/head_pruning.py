"""Head pruning: the attention heads that matter least to the loss are removed."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

from exitwise.compression.base import Batch, Compression, Fit
from exitwise.compression.kept_layers import with_layers
from exitwise.compression.one_fit import OneFitCompression
from exitwise.encoders import (
    attention_of,
    check_heads_are_apart,
    keep_heads,
    kept_heads,
    layerwise,
)
from exitwise.losses.contrastive import float32_or_better
from exitwise.modeling import MultiExitForSequenceClassification

logger = logging.getLogger(__name__)

Scores = list[Float[Tensor, " _"]]  # a layer's heads, of which layers may differ in number


@Compression.registry.register
@dataclass(frozen=True, kw_only=True)
class HeadPruningCompression(OneFitCompression):
    """Removes the heads of a fine-tuned model to which its loss is least sensitive.

    Heads are ranked by `head_importance`, divided by the l2 norm of their layer's (Michel, Levy
    and Neubig 2019, "Are Sixteen Heads Really Better than One?", section 4.1,
    https://arxiv.org/abs/1905.10650), over all layers together. The lowest go, but one head of
    each layer stays.

    The paper removes a tenth of the heads at a time, to draw its curves, without training in
    between or afterwards. Here the scores are taken once and all heads go in one go; `epochs`
    adds training of what is left, with cross-entropy. It finds little loss in BERT until 40 % of
    the heads are gone.

    Attributes:
        share: of all heads that go, rounded to whole heads.
        epochs: passes over the training data after that; 0 for none.
    """

    least_epochs = 0

    share: float = 0.4
    epochs: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.share < 1:
            raise ValueError(f"share must be between 0 and 1, found {self.share}")

    def check(self, model_type: str) -> None:
        """Of some types the heads cannot be told apart."""
        check_heads_are_apart(model_type)

    def kept_layers(self, num_layers: int) -> Sequence[int]:
        """All of them."""
        return range(1, num_layers + 1)

    def compress(
        self, model: MultiExitForSequenceClassification, fit: Fit
    ) -> MultiExitForSequenceClassification:
        """Scores the heads on the training data and removes the lowest."""
        scores = normalized_by_layer(head_importance(model, fit.batches()))
        there = kept_heads(model.encoder.config)
        places = highest(scores, num_removed=round(self.share * sum(map(len, there))))
        kept = [[heads[place] for place in stay] for heads, stay in zip(there, places, strict=True)]
        logger.info("heads of each layer that stay: %s", ", ".join(map(str, map(len, kept))))
        keep_heads(model.encoder, kept)
        smaller = with_layers(model, self.kept_layers(model.num_layers))
        if self.epochs:
            self.train(smaller, fit)
        return smaller


def head_importance(model: MultiExitForSequenceClassification, batches: Iterable[Batch]) -> Scores:
    r"""How much the loss depends on each head, by layer.

    $$I_h = E_x \left| \frac{\partial L(x)}{\partial \xi_h} \right|$$

    with $\xi_h$ a factor of the head's output before the output projection, which is 1; its
    gradient is the sum over tokens and dimensions of the output times the gradient of it (Michel
    et al. 2019, Eq. 2 ff.). L(x) is the cross-entropy of one text at the last exit, and the mean is
    that of absolute values text by text: gradients of several texts do not cancel.

    Args:
        model: put into evaluation mode.
        batches: texts with labels, on one device, to which the model goes.
    """
    model.eval()
    sums: Scores = []
    num_texts = 0
    for batch in batches:
        model.to(batch["labels"].device)  # type: ignore[arg-type] # transformers wraps it
        gradients = mask_gradients(model, batch)
        totals = [gradient.abs().sum(dim=0) for gradient in gradients]
        sums = [a + b for a, b in zip(sums, totals, strict=True)] if sums else totals
        num_texts += len(batch["labels"])
    return [total / num_texts for total in sums]


def mask_gradients(
    model: MultiExitForSequenceClassification, batch: Batch
) -> list[Float[Tensor, "n _"]]:
    """The derivative of each text's loss by each head's factor, by layer."""
    texts = {name: tensor for name, tensor in batch.items() if name != "labels"}
    labels = batch["labels"]
    masks = [
        torch.ones(len(labels), len(heads), device=labels.device, requires_grad=True)
        for heads in kept_heads(model.encoder.config)
    ]
    # Compiled layers know nothing of the masks.
    with torch.compiler.set_stance("force_eager"), torch.enable_grad(), masked(model, masks):
        logits = float32_or_better(model(**texts).logits)
        # Texts do not see each other: the sum's derivative by a text's factor is that of its loss.
        loss = cross_entropy(logits, labels, reduction="sum")
        return list(torch.autograd.grad(loss, masks))


@contextmanager
def masked(
    model: MultiExitForSequenceClassification, masks: Sequence[Float[Tensor, "n _"]]
) -> Iterator[None]:
    """Multiplies the output of each head by a factor of its own for each text, by layer."""

    def multiplied_by(mask: Tensor) -> Any:  # noqa: ANN401 - a hook, as torch calls it
        def hook(_: nn.Module, inputs: tuple[Tensor]) -> tuple[Tensor]:
            heads = inputs[0].unflatten(-1, (mask.shape[1], -1))  # [n, l, h, d / h]
            return ((heads * mask[:, None, :, None]).flatten(2),)

        return hook

    hooks = [
        attention_of(model.encoder.config, layer).output.register_forward_pre_hook(
            multiplied_by(mask)
        )
        for layer, mask in zip(layerwise(model.encoder).layers, masks, strict=True)
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def normalized_by_layer(scores: Scores) -> Scores:
    """Scores divided by the l2 norm of their layer's."""
    return [normalize(each, dim=0) for each in scores]


def highest(scores: Scores, *, num_removed: int) -> list[list[int]]:
    """The places of the heads that stay when the lowest of all layers go, but one a layer stays.

    >>> highest([torch.tensor([0.1, 0.2]), torch.tensor([0.9, 0.3, 0.8])], num_removed=2)
    [[1], [0, 2]]
    """
    stay = [list(range(len(each))) for each in scores]
    ranked = sorted(
        (score, layer, place)
        for layer, each in enumerate(scores)
        for place, score in enumerate(each.tolist())
    )
    for _, layer, place in ranked:
        if num_removed and len(stay[layer]) > 1:
            stay[layer].remove(place)
            num_removed -= 1
    return stay
