"""Small changes of a graph."""

import onnx


def read_instead(graph: onnx.GraphProto, name: str, other: str) -> None:
    """Lets all nodes read another value."""
    for node in graph.node:
        for place, each in enumerate(node.input):
            if each == name:
                node.input[place] = other


def keep_used(graph: onnx.GraphProto) -> None:
    """Leaves out nodes that no result needs, and their constants."""
    needed = {each.name for each in graph.output}
    kept = []
    for node in reversed(graph.node):
        if needed.intersection(node.output):
            kept.append(node)
            needed.update(node.input)
    constants = [each for each in graph.initializer if each.name in needed]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(reversed(kept))
    graph.initializer.extend(constants)
