"""What the tests of encoders share: every kind of encoder, and batches padded on either side."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import pytest
import torch
from torch import Tensor
from transformers import PreTrainedModel

from exitwise.encoders import FAMILIES

# Settings of a type that take another way through the library's code.
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "albert, 3 groups of 2": ("albert", {"num_hidden_groups": 3, "inner_group_num": 2}),
    "deberta, convolution": (
        "deberta-v2",
        {"conv_kernel_size": 3, "conv_groups": 2, "share_att_key": False},
    ),
    "deberta, one product": (
        "deberta-v2",
        {"share_att_key": False, "pos_att_type": "c2p", "position_buckets": -1},
    ),
    "deberta, one product, shared keys": ("deberta-v2", {"pos_att_type": "p2c"}),
    "deberta, absolute": (
        "deberta-v2",
        {
            "relative_attention": False,
            "norm_rel_ebd": "none",
            "position_biased_input": True,
            "type_vocab_size": 2,
        },
    ),
    "electra, as wide": ("electra", {"embedding_size": 16}),
    "ernie, tasks": ("ernie", {"use_task_id": True}),
    "roberta, 2 types": ("roberta", {"type_vocab_size": 2}),
    "modernbert, all global": ("modernbert", {"layer_types": ["full_attention"] * 3}),
}
KINDS = {name: (name, {}) for name in sorted(FAMILIES)} | VARIANTS

LENGTHS = (4, 9, 7)


@dataclass(frozen=True)
class Batch:
    """Texts of 4, 9 and 7 tokens in one batch."""

    input_ids: Tensor
    attention_mask: Tensor
    token_type_ids: Tensor

    def tokens_of(self, states: Tensor) -> list[Tensor]:
        """The states of each text's own tokens, without padding."""
        rows = zip(states, self.attention_mask.bool(), strict=True)
        return [row[mask] for row, mask in rows]


@pytest.fixture(params=sorted(KINDS))
def encoder(
    request: pytest.FixtureRequest, tiny_encoder: Callable[..., PreTrainedModel]
) -> PreTrainedModel:
    """A tiny encoder of every kind, with eager attention."""
    model_type, changes = KINDS[request.param]
    model = tiny_encoder(model_type, **changes)
    model.set_attn_implementation("eager")
    return model


@pytest.fixture
def batch() -> Callable[..., Batch]:
    """A factory: an encoder and a side to pad on → the same three texts."""

    def make(model: PreTrainedModel, *, padding: Literal["left", "right"]) -> Batch:
        generator = torch.Generator().manual_seed(1)
        pad = model.config.pad_token_id
        rows = [torch.randint(3, 60, (length,), generator=generator) for length in LENGTHS]
        segments = [(torch.arange(length) >= length // 2).long() for length in LENGTHS]
        return Batch(
            padded(rows, value=pad, side=padding),
            padded([torch.ones_like(row) for row in rows], value=0, side=padding),
            padded(segments, value=0, side=padding),
        )

    return make


def padded(rows: list[Tensor], *, value: int, side: str) -> Tensor:
    """Rows of unequal length as one tensor."""
    return torch.nn.utils.rnn.pad_sequence(
        rows, batch_first=True, padding_value=value, padding_side=side
    )


@pytest.fixture(autouse=True)
def _no_gradient_unless_asked(request: pytest.FixtureRequest) -> Iterator[None]:
    """Most tests compare numbers only; those marked `usefixtures("gradients")` differentiate."""
    with torch.set_grad_enabled("gradients" in request.fixturenames):
        yield


@pytest.fixture
def gradients() -> None:
    """Asks for gradients."""
