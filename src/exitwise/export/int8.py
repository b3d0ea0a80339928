"""int8 with one scale a token row: a row's answer does not depend on its neighbours."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import onnx
from numpy import ndarray
from onnx import helper, numpy_helper

from exitwise.export.graph_edits import keep_used

ZERO = 128
"""What stands for zero among the activations, 8 bits without a sign."""

PAIR = 127
"""The largest sum of two neighbouring weights before they are rounded, which adds 1 at most: 255
times 128 fits into 16 bits with a sign."""


def quantize(model: onnx.ModelProto, *, least_width: int) -> onnx.ModelProto:
    r"""Replaces products with constant matrices of at least `least_width` on both sides.

    A row x of activations is written as $s\,q / 127$, $s = \max_j |x_j|$, and column w of the
    weights as $t\,v$, q and v in 8 bits; then $x^\top w \approx s\,t\, q^\top v / 127$. ONNX
    Runtime's own dynamic quantisation has one s for the whole batch, by which a row's logits change
    with its neighbours and its padding.

    The rows are divided by s before they are rounded, and multiplied by it after the product; the
    rest is applied inside the product by ONNX Runtime's `MatMulIntegerToFloat`, whose own scale of
    the activations is 1. Products of the same activations (query, key and value) are one product,
    since on a short text an operator costs as much as its arithmetic.

    q is unsigned, 128 above zero, and v signed: the pair that processors multiply fastest (on a
    27-token text and with VNNI twice, in batches of 32 three times as fast as two unsigned
    factors). Processors without VNNI add two such products in 16 bits; `quantized_columns` keeps
    the sum within them, which ONNX Runtime's own quantisation does not, so that it answers wrongly
    there. Biases and everything else stay in float32.

    The model is changed and returned.
    """
    graph = model.graph
    linears = linears_of(graph, least_width=least_width)
    replaced = {name: each for each in linears for name in (each.product, each.target)}
    together: dict[str, list[Linear]] = {}  # those of the same activations
    for each in linears:
        together.setdefault(each.source, []).append(each)
    rewriter = Rewriter()
    for node in graph.node:
        linear = replaced.get(node.output[0])
        if linear is None:
            rewriter.nodes.append(node)
        elif linear.source in together:  # the first of them
            rewriter.multiply(together.pop(linear.source))
    del graph.node[:]
    graph.node.extend(rewriter.nodes)
    graph.initializer.extend(rewriter.constants)
    keep_used(graph)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return model


class Linear(NamedTuple):
    """A product with a constant matrix, and the sum with a constant that may follow it.

    Attributes:
        source: the name of the rows.
        weights: [i, o].
        bias: [o], zeros if nothing is added.
        product: the name of what is before the sum.
        target: the name of the result, the same if nothing is added.
    """

    source: str
    weights: ndarray
    bias: ndarray
    product: str
    target: str


def linears_of(graph: onnx.GraphProto, *, least_width: int) -> list[Linear]:
    """Those whose matrices have `least_width` on both sides, in their order."""
    constants = {each.name: each for each in graph.initializer}
    users: dict[str, list[onnx.NodeProto]] = {}
    for node in graph.node:
        for name in node.input:
            users.setdefault(name, []).append(node)
    found = []
    for node in graph.node:
        weights = constants.get(node.input[1]) if node.op_type == "MatMul" else None
        if weights is None or len(weights.dims) != 2 or min(weights.dims) < least_width:
            continue
        product, array = node.output[0], numpy_helper.to_array(weights)
        linear = Linear(
            node.input[0], array, np.zeros(array.shape[1], np.float32), product, product
        )
        match users.get(product, []):
            case [onnx.NodeProto(op_type="Add") as add]:
                other = next((name for name in add.input if name != product), "")
                if other in constants and list(constants[other].dims) == [array.shape[1]]:
                    bias = numpy_helper.to_array(constants[other])
                    linear = linear._replace(bias=bias, target=add.output[0])
        found.append(linear)
    return found


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
        self._constant("int8.zero_weight", np.array(0, np.int8))
        self._constant("int8.step", np.array(1 / 127, np.float32))
        self._constant("int8.least", np.array(1e-30, np.float32))  # divides a row of zeros
        self._constant("int8.axis", np.array([-1], np.int64))

    def multiply(self, linears: Sequence[Linear]) -> None:
        """One product of the same rows, in 8 bits, for several matrices beside each other."""
        source, targets = linears[0].source, [each.target for each in linears]
        together = targets[0] if len(targets) == 1 else f"{source}.products"
        columns = [quantized_columns(each.weights) for each in linears]
        values, steps = (np.concatenate(parts, axis=-1) for parts in zip(*columns, strict=True))
        self._constant(f"{together}.weights", values)
        self._constant(f"{together}.steps", (steps / 127).astype(np.float32))
        rows, scale = self._rows(source)
        factors = [f"{together}.weights", "int8.one", f"{together}.steps"]
        zeros = ["int8.zero_point", "int8.zero_weight"]
        units = f"{together}.units"
        self._add("MatMulIntegerToFloat", [rows, *factors, *zeros], units, domain="com.microsoft")
        products = f"{together}.scaled"
        self._constant(f"{together}.bias", np.concatenate([each.bias for each in linears]))
        self._add("Mul", [units, scale], products)
        self._add("Add", [products, f"{together}.bias"], together)
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
    r"""Values in 8 bits with a sign [i, o], and the step of each column [o].

    $t = \max_i (|w_{2i}| + |w_{2i+1}|) / 127$: two neighbours, whose products may be added in 16
    bits, are 128 together at most.

    >>> quantized_columns(np.array([[1.26, 0.0], [-0.01, 0.0], [0.64, 0.0]]))[0]
    array([[126,   0],
           [ -1,   0],
           [ 64,   0]], dtype=int8)
    """
    sizes = np.abs(weights)
    pairs = sizes[::2].copy()
    pairs[: len(sizes) // 2] += sizes[1::2]
    steps = np.maximum(pairs.max(axis=0), 1e-30) / PAIR
    return np.rint(weights / steps).astype(np.int8), steps.astype(np.float32)
