"""Finding the linear map that gives the logits of somebody else's classifier."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from exitwise.errors import UnsupportedError


class Captured:
    """The inputs of a module, in the order of its calls."""

    def __init__(self) -> None:
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []


@contextmanager
def captured(module: nn.Module) -> Iterator[Captured]:
    """Records what a module is given and gives, while the block runs."""
    record = Captured()

    def note(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        record.inputs.append(inputs[0])
        record.outputs.append(output)

    handle = module.register_forward_hook(note)
    try:
        yield record
    finally:
        handle.remove()


def find_head(model: PreTrainedModel) -> nn.Linear:
    """The `nn.Linear` whose output is the logits, found by a probe forward.

    Raises:
        UnsupportedError: the logits are not one linear map of one vector per text.
    """
    found = [
        module
        for module in model.modules()
        if isinstance(module, nn.Linear) and module.out_features == model.config.num_labels
    ]
    for candidate in reversed(found):
        if _gives_logits(model, candidate):
            return candidate
    raise UnsupportedError(
        f"the logits of {type(model).__name__} are not one linear map of one vector per text, "
        "which the label embeddings of aligned contrastive learning need; "
        "sequence classifiers such as those of BERT, RoBERTa and DistilBERT have it"
    )


@torch.no_grad()
def _gives_logits(model: PreTrainedModel, candidate: nn.Linear) -> bool:
    """Whether two probe texts make the candidate give exactly the model's logits."""
    was_training = model.training
    embeddings = model.get_input_embeddings()
    assert isinstance(embeddings, nn.Embedding)
    probe = torch.tensor([[2, 3, 4, 5], [5, 4, 3, 2]], device=model.device)
    probe %= embeddings.num_embeddings
    with captured(candidate) as record:
        logits = model.eval()(input_ids=probe, attention_mask=torch.ones_like(probe)).logits
    model.train(was_training)
    return (
        len(record.inputs) == 1
        and record.inputs[0].ndim == 2
        and len(record.inputs[0]) == len(probe)
        and torch.equal(record.outputs[0], logits)
    )
