"""int8 with one scale a token row: a row's answer does not depend on its neighbours."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from numpy import ndarray
from onnx import helper, numpy_helper

ZERO = 128
"""What stands for zero in 8 bits without a sign."""


def quantize(model: onnx.ModelProto, *, least_width: int) -> onnx.ModelProto:
    r"""Replaces products with constant matrices of at least `least_width` on both sides.

    A row x of activations is written as $s\,q / 127$, $s = \max_j |x_j|$, and column w of the
    weights as $t\,v / 127$, $t = \max_i |w_i|$, q and v in 8 bits; then $x^\top w \approx s\,t\,
    q^\top v / 127^2$. ONNX Runtime's own dynamic quantisation has one s for the whole batch, by
    which a row's logits change with its neighbours and its padding.

    The rows are divided by s before they are rounded, and multiplied by it after the product; the
    rest is applied inside the product by ONNX Runtime's `MatMulIntegerToFloat`, whose own scale of
    the activations is 1. Products of the same activations (query, key and value) are one product,
    since on a short text an operator costs as much as its arithmetic.

    Both factors are unsigned, 128 above q and v. With signed weights, which ONNX Runtime's own
    quantisation writes, processors without VNNI add two products in 16 bits, which overflow and
    saturate, and answers are wrong there; with both factors signed there is no fast kernel, and the
    product takes ten times as long. Biases and everything else stay in float32.

    The model is changed and returned.
    """
    graph = model.graph
    constants = {each.name: each for each in graph.initializer}
    wide = {
        node.output[0]: weight
        for node in graph.node
        if node.op_type == "MatMul"
        and (weight := constants.get(node.input[1])) is not None
        and len(weight.dims) == 2
        and min(weight.dims) >= least_width
    }
    together: dict[str, dict[str, onnx.TensorProto]] = {}  # products by their activations
    for node in graph.node:
        if node.output[0] in wide:
            together.setdefault(node.input[0], {})[node.output[0]] = wide[node.output[0]]
    rewriter = Rewriter()
    for node in graph.node:
        if node.output[0] not in wide:
            rewriter.nodes.append(node)
        elif node.input[0] in together:  # the first of them
            rewriter.multiply(node.input[0], together.pop(node.input[0]))
    used = {name for node in rewriter.nodes for name in node.input}
    kept = [each for each in (*graph.initializer, *rewriter.constants) if each.name in used]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(rewriter.nodes)
    graph.initializer.extend(kept)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return model


class Rewriter:
    """Collects the nodes of the new graph.

    Attributes:
        nodes: in their order.
        constants: the new ones.
    """

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self._constant("int8.one", np.array(1.0, np.float32))
        self._constant("int8.zero_point", np.array(ZERO, np.uint8))
        self._constant("int8.step", np.array(1 / 127, np.float32))
        self._constant("int8.least", np.array(1e-30, np.float32))  # divides a row of zeros
        self._constant("int8.axis", np.array([-1], np.int64))

    def multiply(self, source: str, weights: Mapping[str, onnx.TensorProto]) -> None:
        """Products of the same rows, in 8 bits.

        Args:
            source: the rows.
            weights: by the name of the product.
        """
        targets = list(weights)
        together = targets[0] if len(targets) == 1 else f"{source}.products"
        columns = [quantized_columns(numpy_helper.to_array(each)) for each in weights.values()]
        values, steps = (np.concatenate(parts, axis=-1) for parts in zip(*columns, strict=True))
        self._constant(f"{together}.weights", values)
        self._constant(f"{together}.steps", (steps / 127).astype(np.float32))
        rows, scale = self._rows(source)
        factors = [f"{together}.weights", "int8.one", f"{together}.steps"]
        zeros = ["int8.zero_point", "int8.zero_point"]
        units = f"{together}.units"
        self._add("MatMulIntegerToFloat", [rows, *factors, *zeros], units, domain="com.microsoft")
        self._add("Mul", [units, scale], together)
        if len(targets) > 1:
            widths = [len(each) for _, each in columns]
            self._constant(f"{together}.widths", np.array(widths, np.int64))
            self._add("Split", [together, f"{together}.widths"], *targets, axis=-1)

    def _rows(self, source: str) -> tuple[str, str]:
        """The names of the rows in 8 bits, in their shape, and of their scales."""
        rows, scale = f"{source}.int8", f"{source}.scale"
        self._add("Abs", [source], f"{source}.abs")
        self._add("ReduceMax", [f"{source}.abs", "int8.axis"], f"{source}.max", keepdims=1)
        self._add("Max", [f"{source}.max", "int8.least"], scale)
        self._add("Div", [source, scale], f"{source}.shares")
        self._add("QuantizeLinear", [f"{source}.shares", "int8.step", "int8.zero_point"], rows)
        return rows, scale

    def _constant(self, name: str, array: ndarray) -> None:
        self.constants.append(numpy_helper.from_array(array, name))

    def _add(
        self,
        kind: str,
        inputs: list[str],
        *outputs: str,
        domain: str = "",
        **attributes: Any,  # noqa: ANN401 - what the operator takes
    ) -> None:
        name = f"{kind}.{outputs[0]}"
        self.nodes.append(
            helper.make_node(kind, inputs, outputs, name=name, domain=domain, **attributes)
        )


def quantized_columns(weights: ndarray) -> tuple[ndarray, ndarray]:
    """Values in 8 bits [i, o], 128 for zero, and the step of each column [o].

    >>> quantized_columns(np.array([[1.27, 0.0], [-0.01, 0.0]], np.float32))[0]
    array([[255, 128],
           [127, 128]], dtype=uint8)
    """
    steps = np.maximum(np.abs(weights).max(axis=0), 1e-30) / 127
    values = (np.rint(weights / steps) + ZERO).astype(np.uint8)
    return values, steps.astype(np.float32)
