"""Control flow cut out of an ONNX model: nodes as models of their own, and the model with other nodes instead.

What lies around such a node is copied as it is, so models may have any ops of any domain there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct

from whorl.formats.onnx.dtypes import from_onnx
from whorl.formats.onnx.external import tensor_value
from whorl.formats.onnx.protos import (
    AttributeProto,
    GraphProto,
    ModelProto,
    NodeProto,
    OperatorSetIdProto,
    TensorProto,
    ValueInfoProto,
)
from whorl.formats.onnx.reader import declared_type
from whorl.formats.onnx.tensors import proto_of, shape_of, type_to
from whorl.ir.dims import UNKNOWN, Dim, name
from whorl.ir.types import AnyShape, TensorType, Type

CONTROL = frozenset(("If", "Loop", "Scan"))
OWN_DOMAINS = frozenset(("", "ai.onnx"))


class Cut(Struct, frozen=True):
    """A node of control flow with nodes around it: their positions in the main graph, what they read and give."""

    node: NodeProto
    positions: tuple[int, ...]
    inputs: tuple[str, ...]
    """Values of the main graph that the nodes or their regions read, each once, but for their own."""
    outputs: tuple[str, ...]
    """Their outputs that others read, or that are results of the graph."""

    @property
    def title(self) -> str:
        """The node in messages."""
        names = [name for name in (self.node.name, *self.node.output) if name]
        return f"{self.node.op_type} {names[0]!r}" if names else self.node.op_type


def cut_control(model: ModelProto) -> list[Cut]:
    """The outermost nodes of control flow in the main graph, in their order, each alone."""
    return [
        cut_of(model, node, [position])
        for position, node in enumerate(model.graph.node)
        if node.op_type in CONTROL and node.domain in OWN_DOMAINS
    ]


def cut_of(model: ModelProto, node: NodeProto, positions: Iterable[int]) -> Cut:
    """The cut of these nodes around a node of control flow."""
    chosen = sorted(positions)
    nodes = [model.graph.node[n] for n in chosen]
    own = [name for each in nodes for name in each.output if name]
    inputs = dict.fromkeys(name for each in nodes for name in read_names(each) if name not in own)
    if len(chosen) == 1:
        return Cut(node, tuple(chosen), tuple(inputs), tuple(own))
    inside = set(chosen)
    read = {value.name for value in model.graph.output}
    for position, each in enumerate(model.graph.node):
        if position not in inside:
            read.update(read_names(each))
    return Cut(node, tuple(chosen), tuple(inputs), tuple(name for name in own if name in read))


def read_names(node: NodeProto) -> list[str]:
    """The values that a node and its regions read, each once."""
    return list(dict.fromkeys(name for name in (*node.input, *outer_names(node)) if name))


def outer_names(node: NodeProto) -> Iterator[str]:
    """The values that the regions of a node read from outside."""
    for graph in _regions(node):
        own = {x.name for x in (*graph.input, *graph.initializer)} | {x.values.name for x in graph.sparse_initializer}
        for inner in graph.node:
            yield from (x for x in (*inner.input, *outer_names(inner)) if x and x not in own)
            own.update(inner.output)
        yield from (y.name for y in graph.output if y.name not in own)


def _regions(node: NodeProto) -> Iterator[GraphProto]:
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            yield attribute.g
        yield from attribute.graphs


def count_readers(graph: GraphProto) -> dict[str, int]:
    """How many nodes of a graph read each value, in regions too; results of the graph are read once more."""
    counts: dict[str, int] = {}
    for node in graph.node:
        for each in read_names(node):
            counts[each] = counts.get(each, 0) + 1
    for result in graph.output:
        counts[result.name] = counts.get(result.name, 0) + 1
    return counts


def constant_tensors(model: ModelProto, folder: Path | None) -> dict[str, Callable[[], np.ndarray]]:
    """Initializers that no caller can override, and tensors of Constant nodes, by name; read when they are called."""
    graph = model.graph
    inputs = {value.name for value in graph.input}
    named = {tensor.name: tensor for tensor in graph.initializer if tensor.name not in inputs}
    for node in graph.node:
        if node.op_type == "Constant" and node.domain in OWN_DOMAINS and node.attribute[0].name == "value":
            named[node.output[0]] = node.attribute[0].t
    return {each: _reader(tensor, each, folder) for each, tensor in named.items()}


def _reader(tensor: TensorProto, name: str, folder: Path | None) -> Callable[[], np.ndarray]:
    return lambda: tensor_value(tensor, folder, f"constant {name!r}")


def value_types(model: ModelProto) -> dict[str, Type]:
    """The types of values in the main graph as onnx infers them, for models with ops that the hub has not."""
    from onnx.shape_inference import InferenceError, infer_shapes

    try:
        graph = infer_shapes(model, data_prop=True).graph
    except (InferenceError, ValueError):  # the latter where a model is too large for one piece of protobuf
        graph = model.graph
    infos = (*graph.input, *graph.value_info, *graph.output)
    types = {info.name: declared_type(info, f"value {info.name!r}") for info in infos}
    for tensor in graph.initializer:
        what = f"initializer {tensor.name!r}"
        types.setdefault(tensor.name, TensorType(from_onnx(tensor.data_type, what), shape_of(tensor.dims, what)))
    return {name: type for name, type in types.items() if type is not None}


def model_of_nodes(
    model: ModelProto, cut: Cut, types: Mapping[str, Type], constants: Mapping[str, np.ndarray]
) -> ModelProto:
    """A model of the nodes of a cut alone: its inputs of these types, those among `constants` made initializers."""
    graph = GraphProto(name=cut.node.name or cut.node.op_type)
    lengths: dict[str, str] = {}
    for each in cut.inputs:
        if each in constants:
            graph.initializer.append(proto_of(constants[each], each))
        else:
            graph.input.append(_info(each, types[each], lengths))
    graph.node.extend(model.graph.node[n] for n in cut.positions)
    for each in cut.outputs:
        info = _info(each, types[each], lengths)
        info.type.tensor_type.ClearField("shape")
        graph.output.append(info)
    return ModelProto(
        ir_version=model.ir_version, opset_import=model.opset_import, functions=model.functions, graph=graph
    )


def _info(each: str, type: Type, lengths: dict[str, str]) -> ValueInfoProto:
    """A declared value; lengths that are computed from others have names of their own."""
    if isinstance(type, TensorType) and not isinstance(type.shape, AnyShape):
        dims = tuple(_length(dim, f"{each}.{axis}", lengths) for axis, dim in enumerate(type.shape))
        type = TensorType(type.dtype, dims)
    return ValueInfoProto(name=each, type=type_to(type))


def _length(dim: Dim, own: str, lengths: dict[str, str]) -> Dim:
    if isinstance(dim, int):
        return dim
    text = own if dim is UNKNOWN else str(dim)
    return name(lengths.setdefault(text, text if re.fullmatch(r"\w+", text) else own))


def replace_nodes(
    model: ModelProto, nodes: Sequence[tuple[Sequence[int], NodeProto]], domain: str, version: int
) -> None:
    """Put nodes of a domain in the stead of those at some positions of the main graph, in place.

    Constants that no node reads any more go.
    """
    graph = model.graph
    gone = {position for positions, _ in nodes for position in positions}
    numbered = [(positions[-1], node) for positions, node in nodes]
    numbered += [(n, node) for n, node in enumerate(graph.node) if n not in gone]
    copies = [_copy(node) for node in _in_order([node for _, node in sorted(numbered, key=lambda pair: pair[0])])]
    del graph.node[:]
    graph.node.extend(copies)
    readers = count_readers(graph)
    unused = [n for n, tensor in enumerate(graph.initializer) if tensor.name not in readers]
    inputs = {value.name for value in graph.input}
    for n in reversed(unused):
        if graph.initializer[n].name not in inputs:
            del graph.initializer[n]
    for n in reversed(range(len(graph.node))):
        node = graph.node[n]
        if node.op_type == "Constant" and node.domain in OWN_DOMAINS and node.output[0] not in readers:
            del graph.node[n]
    if nodes:
        model.opset_import.append(OperatorSetIdProto(domain=domain, version=version))


def _in_order(nodes: Sequence[NodeProto]) -> list[NodeProto]:
    """Nodes behind those whose results they read, else in their order."""
    producers = {name: n for n, node in enumerate(nodes) for name in node.output if name}
    result: dict[int, NodeProto] = {}
    for first in range(len(nodes)):
        pending = [first]
        while pending:
            n = pending[-1]
            missing = [p for x in read_names(nodes[n]) if (p := producers.get(x)) is not None and p not in result]
            if missing and n not in result:
                pending += missing
                continue
            result.setdefault(n, nodes[n])
            pending.pop()
    return list(result.values())


def _copy(node: NodeProto) -> NodeProto:
    copy = NodeProto()
    copy.CopyFrom(node)
    return copy


def node_of(cut: Cut, op_type: str, domain: str, inputs: Sequence[str]) -> NodeProto:
    """The node that stands for a cut one."""
    return NodeProto(op_type=op_type, domain=domain, name=cut.node.name, input=inputs, output=cut.outputs)
