"""ONNX models as MDF: a node for each operator, constants as parameters, bodies with their inputs and outputs."""

from __future__ import annotations

import keyword
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto

from whorl.errors import LoadError, SaveError, UnsupportedError
from whorl.formats.mdf.bodies import INPUTS, OUTPUTS
from whorl.formats.mdf.document import Edge, Graph, InputPort, LiteralText, Model, Node, OutputPort, Parameter
from whorl.formats.mdf.files import STORED_FROM
from whorl.formats.mdf.onnx_calls import GRAPHS
from whorl.formats.mdf.onnx_names import OPSET, find_schema
from whorl.formats.onnx.attributes import attribute_value
from whorl.formats.onnx.external import initializer_value
from whorl.formats.onnx.files import OnnxSource, load_onnx, read_proto
from whorl.formats.onnx.frame import LoadOptions, domain_of, node_title, opset_versions
from whorl.formats.onnx.ordering import free_names
from whorl.formats.onnx.saving import to_proto
from whorl.formats.onnx.tensors import dense
from whorl.ir.constants import as_array

_SAME_FORM = frozenset({"Loop", "Scan", "If", "Identity", "Constant"})
"""Operators that older and newer versions write alike."""


def model_from_onnx(source: OnnxSource) -> Model:
    """An ONNX model as an MDF model; graph inputs are the ports that no edge feeds.

    The ids of inputs and outputs stand in the graph's metadata. Errors: UnsupportedError names operators that MDF has
    not; LoadError.
    """
    proto = _in_mdf_version(source)
    importer = _Importer(Path(source).parent if isinstance(source, str | os.PathLike) else None)
    graph = importer.graph(proto.graph, {}, {})
    return Model("ONNX Model", {graph.id: graph}, generating_application="whorl", onnx_opset_version=str(OPSET))


def _in_mdf_version(source: OnnxSource) -> ModelProto:
    """The model in the version of operators that MDF's functions have."""
    proto = read_proto(source)
    version = opset_versions(proto.opset_import).get("", 1)
    nodes = list(_all_nodes(proto.graph))
    if not proto.functions and all(_is_alike(node, version) for node in nodes):
        return proto
    try:
        proto = to_proto(load_onnx(source, LoadOptions()), OPSET)
    except SaveError as error:
        raise UnsupportedError(error.message, error.where, f"MDF has the operators of opset {OPSET}") from None
    unknown = sorted({node.op_type for node in _all_nodes(proto.graph) if domain_of(node.domain) or not _known(node)})
    if unknown:
        raise UnsupportedError(f"MDF has no function for {', '.join(unknown)}")
    return proto


def _known(node: NodeProto) -> bool:
    return find_schema(f"onnx::{node.op_type}") is not None


def _is_alike(node: NodeProto, version: int) -> bool:
    if domain_of(node.domain) or not onnx.defs.has(node.op_type, version, ""):
        return False
    if node.op_type in _SAME_FORM:
        return True
    schema = find_schema(f"onnx::{node.op_type}")
    used = onnx.defs.get_schema(node.op_type, version, "")
    return schema is not None and schema.since_version == used.since_version


def _all_nodes(graph: GraphProto) -> Iterable[NodeProto]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.type == AttributeProto.GRAPH:
                yield from _all_nodes(attribute.g)


class _Importer:
    """Ids are unique in the whole model, so that a body may name what is around it."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.taken: set[str] = set()

    def id(self, name: str) -> str:
        """A new id that Python can read, from a name of ONNX."""
        plain = re.sub(r"\W", "_", name, flags=re.ASCII) or "value"
        if plain[0].isdigit() or keyword.iskeyword(plain) or plain in ("math", "numpy", "np"):
            plain = f"_{plain}"
        unique, number = plain, 2
        while unique in self.taken:
            unique, number = f"{plain}_{number}", number + 1
        self.taken.add(unique)
        return unique

    def graph(self, proto: GraphProto, outer: dict[str, str], constants: dict[str, Any]) -> Graph:
        """A graph; `outer` are the ids of names around it, `constants` the values of those that have no id."""
        scope = _Scope(proto, self, dict(outer), dict(constants))
        graph = Graph(proto.name or "graph")
        for node in proto.node:
            if node.op_type != "Constant" or domain_of(node.domain):
                built = _node(node, scope)
                graph.nodes[built.id] = built
        outputs = [scope.ids.get(info.name) or self.passed_on(info.name, scope, graph) for info in proto.output]
        graph.metadata = {INPUTS: [scope.ids[info.name] for info in scope.inputs], OUTPUTS: outputs}
        senders = {port: node.id for node in graph.nodes.values() for port in node.output_ports}
        for node in graph.nodes.values():
            for port in node.input_ports:
                if port in senders:
                    id = f"{senders[port]}.{port}_{node.id}.{port}"
                    graph.edges[id] = Edge(id, senders[port], port, node.id, port)
        return graph

    def passed_on(self, name: str, scope: _Scope, graph: Graph) -> str:
        """The port of a new node that gives a constant out."""
        if name not in scope.constants:
            raise LoadError(f"output {name!r} is not produced by any node", f"graph {graph.id!r}")
        node, port = self.id(f"{name}_value"), self.id(name)
        held = Parameter("input", _listed(scope.constants[name]))
        result = Parameter(node, function="onnx::Identity", args={"input": "input"})
        output = {port: OutputPort(port, node)}
        graph.nodes[node] = Node(node, parameters={"input": held, node: result}, output_ports=output)
        return port


class _Scope:
    """The names of one graph: ids of what is computed or comes in, values of what is constant."""

    def __init__(self, proto: GraphProto, importer: _Importer, ids: dict[str, str], constants: dict[str, Any]) -> None:
        self.importer, self.ids, self.constants = importer, ids, constants
        self.types = {info.name: info.type for info in (*proto.input, *proto.value_info, *proto.output)}
        own = {
            tensor.name: as_array(initializer_value(tensor, importer.folder, tensor.name))
            for tensor in proto.initializer
        }
        own |= {sparse.values.name: dense(sparse, sparse.values.name) for sparse in proto.sparse_initializer}
        for node in proto.node:
            if node.op_type == "Constant" and not domain_of(node.domain):
                own[node.output[0]] = attribute_value(node.attribute[0], importer.folder)
        self.inputs = [info for info in proto.input if info.name not in own]
        for name in (*(info.name for info in self.inputs), *(n for node in proto.node for n in node.output if n)):
            self.constants.pop(name, None)
            if name not in own:
                self.ids[name] = importer.id(name)
        for name, value in own.items():
            self.ids.pop(name, None)
            self.constants[name] = value


def _node(proto: NodeProto, scope: _Scope) -> Node:
    """One operator: ports for what comes in, parameters for attributes and constants, and the function itself."""
    schema = find_schema(f"onnx::{proto.op_type}")
    if schema is None or domain_of(proto.domain):
        raise UnsupportedError(f"MDF has no function for {proto.op_type}", node_title(proto))
    node = Node(scope.importer.id(proto.name or proto.op_type))
    args: dict[str, Any] = {}
    for attribute in proto.attribute:
        node.parameters[attribute.name] = Parameter(attribute.name, _attribute(attribute, scope))
    for index, name in enumerate(proto.input):
        formal = schema.inputs[min(index, len(schema.inputs) - 1)]
        key = formal.name if index < len(schema.inputs) else f"{formal.name}_{index}"
        if not name:
            continue
        if name in scope.ids:
            args[key] = scope.ids[name]
            _add_port(node, name, scope)
        elif name in scope.constants:
            node.parameters[key] = Parameter(key, _listed(scope.constants[name]))
            args[key] = key
        else:
            raise LoadError(f"input {name!r} is not produced by any node", node_title(proto))
    for name in free_names(proto) & scope.ids.keys() - set(proto.input):
        _add_port(node, name, scope)
    node.input_ports = dict(sorted(node.input_ports.items(), key=lambda item: item[0] not in args.values()))
    known = [formal.name for formal in schema.inputs] + list(schema.attributes)
    hidden = {name: "" for name in known if name in node.input_ports and name not in args}
    if proto.op_type == "Split" and len(proto.input) < 2:
        node.parameters["num_outputs"] = Parameter("num_outputs", len(proto.output))
    function = node.id if node.id not in {*node.input_ports, *node.parameters} else scope.importer.id(f"{node.id}_f")
    node.parameters[function] = Parameter(function, function=f"onnx::{proto.op_type}", args={**args, **hidden})
    has_several = _result_count(proto, schema) > 1
    for index, name in enumerate(proto.output):
        if name:
            port = scope.ids[name]
            node.output_ports[port] = OutputPort(port, f"{function}[{index}]" if has_several else function)
    return node


def _result_count(proto: NodeProto, schema: Any) -> int:
    graphs = [attribute.g for attribute in proto.attribute if attribute.name in GRAPHS.get(proto.op_type, ())]
    if graphs:
        return len(graphs[0].output) - (proto.op_type == "Loop")
    if proto.op_type == "BatchNormalization":
        return len(proto.output)
    return len(proto.output) if proto.op_type == "Split" else len(schema.outputs)


def _add_port(node: Node, name: str, scope: _Scope) -> None:
    id, type = scope.ids[name], scope.types.get(name)
    port = InputPort(id)
    if type is not None and type.HasField("tensor_type") and type.tensor_type.elem_type:
        port.type = onnx.TensorProto.DataType.Name(type.tensor_type.elem_type).lower()
        if type.tensor_type.HasField("shape"):
            dims = type.tensor_type.shape.dim
            port.shape = (
                tuple(dim.dim_value for dim in dims) if all(dim.HasField("dim_value") for dim in dims) else None
            )
    node.input_ports[id] = port


def _attribute(attribute: AttributeProto, scope: _Scope) -> Any:
    if attribute.type == AttributeProto.GRAPH:
        graph = scope.importer.graph(attribute.g, scope.ids, scope.constants)
        return {f"graph_{graph.id}": graph}
    value = attribute_value(attribute, scope.importer.folder)
    return LiteralText(value) if isinstance(value, str) else _listed(value)


def _listed(value: Any) -> Any:
    """A small array as a list, a number as Python's own."""
    if isinstance(value, np.ndarray):
        return value.tolist() if value.size < STORED_FROM else value
    if isinstance(value, tuple):
        return list(value)
    return value.item() if isinstance(value, np.generic) else value
