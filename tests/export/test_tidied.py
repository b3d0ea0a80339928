"""Graphs without what nobody needs say the same."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from exitwise.export.tidied import tidied


def model_of(*shapes: list[int], length: str | None = "n") -> onnx.ModelProto:
    """x [n, 4], reshaped to each shape in turn, and doubled; with the shapes that are known."""
    nodes, constants, last = [], [], "x"
    infos = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    for number, shape in enumerate(shapes):
        constants.append(numpy_helper.from_array(np.array(shape), f"shape{number}"))
        nodes.append(helper.make_node("Reshape", [last, f"shape{number}"], [f"r{number}"]))
        last = f"r{number}"
        dims = [length if each == -1 else each for each in shape]
        infos.append(helper.make_tensor_value_info(last, TensorProto.FLOAT, dims))
    nodes.append(helper.make_node("Add", [last, last], ["y"]))
    first = helper.make_tensor_value_info("x", TensorProto.FLOAT, [length, 4])
    graph = helper.make_graph(nodes, "g", [first], infos[:1], constants, value_info=infos[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def kinds(model: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in model.graph.node]


@pytest.mark.parametrize(
    ("shapes", "left"),
    [
        ([[-1, 2, 2], [-1, 4]], 0),
        ([[-1, 2, 2], [-1, 2, 1, 2], [-1, 4]], 0),
        ([[-1, 2, 2]], 1),
        ([[-1, 2, 2], [-1, 4], [-1, 2, 2]], 1),
        ([[-1, 2, 2], [4, -1]], 2),
    ],
)
def test_reshapes_there_and_back_go(shapes: list[list[int]], left: int) -> None:
    rows = np.arange(12, dtype=np.float32).reshape(3, 4)
    before, after = (
        onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": rows})[0]
        for model in (model_of(*shapes), tidied(model_of(*shapes)))
    )
    assert np.array_equal(before, after)
    found = tidied(model_of(*shapes))
    assert kinds(found) == ["Reshape"] * left + ["Add"]
    assert len(found.graph.initializer) == left


def test_where_a_length_is_not_known_they_stay() -> None:
    model = model_of([-1, 2, 2], [-1, 4], length=None)
    assert kinds(tidied(model)) == ["Reshape", "Reshape", "Add"]
