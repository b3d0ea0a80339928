"""int8 with one scale a token row: a row's answer does not depend on its neighbours."""

from typing import Any

import numpy as np
import onnx
from numpy import ndarray
from onnx import helper, numpy_helper

ZERO = 128
"""What stands for zero in 8 bits without a sign."""


def quantize(model: onnx.ModelProto, *, least_width: int) -> onnx.ModelProto:
    r"""Replaces products with constant matrices of at least `least_width` on both sides.

    A row x of activations is written as $s\,q$, $s = \max_j |x_j| / 127$, and column w of the
    weights as $t\,v$, $t = \max_i |w_i| / 127$, q and v in 8 bits; then $x^\top w \approx s\,t\,
    q^\top v$. ONNX Runtime's own dynamic quantisation has one s for the whole batch, by which a
    row's logits change with its neighbours and its padding.

    The rows are divided by s before they are rounded, and multiplied by it after the product; t is
    applied inside the product by ONNX Runtime's `MatMulIntegerToFloat`, whose own scale of the
    activations is 1. Both factors are unsigned, 128 above q and v. With signed weights, which ONNX
    Runtime's own quantisation writes, processors without VNNI add two products in 16 bits, which
    overflow and saturate, and answers are wrong there; with both factors signed there is no fast
    kernel, and the product takes ten times as long. Biases and everything else stay in float32.

    The model is changed and returned.
    """
    graph = model.graph
    constants = {each.name: each for each in graph.initializer}
    rewriter = Rewriter(graph)
    for node in list(graph.node):
        weight = constants.get(node.input[1]) if node.op_type == "MatMul" else None
        if weight is None or len(weight.dims) != 2 or min(weight.dims) < least_width:
            rewriter.nodes.append(node)
        else:
            rewriter.replace(node, weight)
    used = {name for node in rewriter.nodes for name in node.input}
    kept = [each for each in (*graph.initializer, *rewriter.constants) if each.name in used]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(rewriter.nodes)
    graph.initializer.extend(kept)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return model


class Rewriter:
    """Collects the nodes of the new graph; activations that several products share are scaled once.

    Attributes:
        nodes: in their order.
        constants: the new ones.
    """

    def __init__(self, graph: onnx.GraphProto) -> None:
        self.nodes: list[onnx.NodeProto] = []
        fixed: dict[str, ndarray] = {
            "int8.one": np.array(1.0, np.float32),
            "int8.zero_point": np.array(ZERO, np.uint8),
            "int8.step": np.array(1 / 127, np.float32),
            "int8.least": np.array(1e-30, np.float32),  # a row of zeros is divided by it
            "int8.axis": np.array([-1], np.int64),
        }
        self.constants = [numpy_helper.from_array(array, name) for name, array in fixed.items()]
        self._scaled: dict[str, tuple[str, str]] = {}

    def replace(self, node: onnx.NodeProto, weight: onnx.TensorProto) -> None:
        """The product in 8 bits instead of a node."""
        source, (target,) = node.input[0], node.output
        rows, scale = self._rows(source)
        values, steps = quantized_columns(numpy_helper.to_array(weight))
        name = weight.name
        if not any(each.name == f"{name}.int8" for each in self.constants):
            self.constants += [
                numpy_helper.from_array(values, f"{name}.int8"),
                numpy_helper.from_array(steps, f"{name}.steps"),
            ]
        zeros = ("int8.zero_point", "int8.zero_point")
        factors = (f"{name}.int8", "int8.one", f"{name}.steps", *zeros)
        self._add("MatMulIntegerToFloat", [rows, *factors], f"{target}.units", microsoft=True)
        self._add("Mul", [f"{target}.units", scale], target)

    def _rows(self, source: str) -> tuple[str, str]:
        """The names of the rows in 8 bits, in their shape, and of their scales."""
        if source not in self._scaled:
            rows, scale = f"{source}.int8", f"{source}.scale"
            self._add("Abs", [source], f"{source}.abs")
            self._add("ReduceMax", [f"{source}.abs", "int8.axis"], f"{source}.max", keepdims=1)
            self._add("Max", [f"{source}.max", "int8.least"], f"{source}.most")
            self._add("Mul", [f"{source}.most", "int8.step"], scale)
            self._add("Div", [source, scale], f"{source}.units")
            self._add("QuantizeLinear", [f"{source}.units", "int8.one", "int8.zero_point"], rows)
            self._scaled[source] = rows, scale
        return self._scaled[source]

    def _add(
        self,
        kind: str,
        inputs: list[str],
        output: str,
        *,
        microsoft: bool = False,
        **attributes: Any,  # noqa: ANN401 - what the operator takes
    ) -> None:
        domain = "com.microsoft" if microsoft else ""
        name = f"{kind}.{output}"
        self.nodes.append(
            helper.make_node(kind, inputs, [output], name=name, domain=domain, **attributes)
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
