"""Compiled layers: the same gradients, also through several backward passes over one graph."""

from collections.abc import Callable

import pytest
import torch
from transformers import PreTrainedModel

from exitwise.encoders import layerwise
from exitwise.errors import RecipeError
from exitwise.training import compile_layers


# torch._dynamo looks at tensors of its own graphs
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf:UserWarning")
def test_two_passes_over_a_graph_give_the_same_gradients(
    tiny_encoder: Callable[..., PreTrainedModel],
) -> None:
    found = []
    for is_compiled in (False, True):
        encoder = tiny_encoder("bert")
        if is_compiled:  # the graphs of the compiler, run as they are: no C++ in a test
            compile_layers(layerwise(encoder).layers, backend="aot_eager")
        states = encoder(torch.tensor([[2, 5, 7, 3], [2, 8, 3, 0]])).last_hidden_state
        states.square().sum().backward(retain_graph=True)
        states.sum().backward()
        found.append({name: each.grad for name, each in encoder.named_parameters()})
    plain, compiled = found
    assert plain.keys() == compiled.keys()
    for name, gradient in plain.items():
        torch.testing.assert_close(compiled[name], gradient, rtol=1e-4, atol=1e-5)


def test_without_a_compiler_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: False)
    with pytest.raises(RecipeError, match=r"needs a C\+\+ compiler"):
        compile_layers((torch.nn.Linear(2, 2),))
