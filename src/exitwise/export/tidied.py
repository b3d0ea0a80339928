"""What the exporter writes, without what nobody needs."""

import onnx

from exitwise.export.graph_edits import keep_used, read_instead


def tidied(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model, which is changed, without idle reshapes and without traces of the code."""
    without_idle_reshapes(model.graph)
    return without_traces(model)


def without_idle_reshapes(graph: onnx.GraphProto) -> None:
    """Leaves out reshapes after which a tensor has the shape again that it had before others.

    An encoder parts the heads, and attention as one operator wants them beside each other.
    """
    shapes = known_shapes(graph)
    makers = {name: node for node in graph.node for name in node.output}
    for node in graph.node:
        shape, source = shapes.get(node.output[0]), node
        while shape is not None and source is not None and source.op_type == "Reshape":
            before = source.input[0]
            if shapes.get(before) == shape:
                read_instead(graph, node.output[0], before)
            source = makers.get(before)
    keep_used(graph)


def known_shapes(graph: onnx.GraphProto) -> dict[str, list[int | str]]:
    """By name, of the tensors whose axes all have a length or the name of one."""
    shapes = {
        each.name: [axis.dim_param or axis.dim_value for axis in each.type.tensor_type.shape.dim]
        for each in (*graph.value_info, *graph.input)
    }
    return {name: shape for name, shape in shapes.items() if shape and all(shape)}


def without_traces(model: onnx.ModelProto) -> onnx.ModelProto:
    """Leaves out what the exporter tells of the code that made each node: paths, stack traces."""
    for each in (*model.graph.node, *model.graph.value_info, *model.graph.input, model.graph):
        del each.metadata_props[:]
        each.doc_string = ""
    del model.graph.value_info[:], model.metadata_props[:]
    return model
