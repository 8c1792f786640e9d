"""Copies of regions, and who uses a value."""

from __future__ import annotations

from collections.abc import Mapping

from whorl.ir.graph import Node, Region, Value


def clone_region(region: Region) -> Region:
    """A copy that shares ops and types but no value or node with the original."""
    copy = Region(region.name)
    values: dict[Value, Value] = {}
    for argument in region.arguments:
        values[argument] = copy.add_argument(argument.name, argument.type, argument.known)
    copy.nodes = [clone_node(node, values) for node in region.nodes]
    copy.results = [values[value] for value in region.results]
    return copy


def clone_node(node: Node, values: Mapping[Value, Value] | dict[Value, Value]) -> Node:
    """A copy of a node with its inputs looked up in `values`; its outputs are added there."""
    inputs = [None if value is None else values[value] for value in node.inputs]
    copy = Node(node.op, inputs, [clone_region(region) for region in node.regions], node.name)
    copy.outputs = [Value(v.name, v.type, copy, v.index, v.known) for v in node.outputs]
    if isinstance(values, dict):
        values.update(zip(node.outputs, copy.outputs, strict=True))
    return copy
