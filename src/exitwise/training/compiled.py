"""The encoder's layers, compiled."""

import logging
import os
import shutil

import torch._functorch.config
from torch import nn

from exitwise.errors import RecipeError

logger = logging.getLogger(__name__)


def compile_layers(
    layers: "nn.ModuleList | tuple[nn.Module, ...]", *, backend: str = "inductor"
) -> None:
    """Lets `torch.compile` turn each layer into fused kernels, once for all lengths.

    The first steps take the compiler's time, a minute or more. A gated step runs a second
    backward pass over the same graph, so no buffer may be handed on to the first.

    Raises:
        RecipeError: there is no C++ compiler, which kernels for the processor need.
    """
    needs_compiler = backend == "inductor" and not torch.accelerator.is_available()
    if needs_compiler and "CXX" not in os.environ and shutil.which("g++") is None:
        raise RecipeError("training.compile needs a C++ compiler: install g++, or leave it out")
    torch._functorch.config.donated_buffer = False
    logger.info("compiles %d layers in the first steps", len(layers))
    for layer in layers:
        layer.compile(dynamic=True, backend=backend)
