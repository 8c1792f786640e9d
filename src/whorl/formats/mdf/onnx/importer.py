"""ONNX models as MDF: a node for each operator, constants as parameters, bodies with their inputs and outputs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import onnx
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto

from whorl.errors import LoadError, SaveError, UnsupportedError
from whorl.formats.mdf.onnx.nodes import find_conflicts, give_out, pass_on, write_nodes
from whorl.formats.mdf.onnx.operators import OPSET, find_schema
from whorl.formats.mdf.onnx.scopes import Fixed, Ids, Scope, infer_types, make_id
from whorl.formats.mdf.onnx.types import data_of_type
from whorl.formats.onnx.attributes import attribute_value
from whorl.formats.onnx.context import domain_of, opset_versions
from whorl.formats.onnx.external import initializer_value
from whorl.formats.onnx.files import load_onnx, read_proto
from whorl.formats.onnx.saving import to_proto
from whorl.formats.onnx.tensors import dense, type_from
from whorl.formats.options import LoadOptions
from whorl.formats.sources import File
from whorl.ir.constants import as_array
from whorl.mdf.bodies import INPUTS, OUTPUTS
from whorl.mdf.model import Edge, Graph, Model

_SAME_FORM = frozenset({"Loop", "Scan", "If", "Identity", "Constant"})
"""Operators that older and newer versions write alike."""


TYPES, NAMES = "onnx_types", "onnx_names"
"""The keys in the metadata of a main graph: the types of its inputs and outputs, and names that are no ids."""


def model_from_onnx(source: File) -> Model:
    """An ONNX model as an MDF model; graph inputs are the ports that no edge feeds.

    The ids, types and names of inputs and outputs stand in the graph's metadata. Errors: UnsupportedError names
    operators that MDF has not; LoadError.
    """
    proto = _in_mdf_version(source)
    importer = _Importer(proto, Path(source).parent if isinstance(source, str | os.PathLike) else None)
    graph = importer.main(proto)
    return Model("ONNX Model", {graph.id: graph}, generating_application="whorl", onnx_opset_version=str(OPSET))


def _in_mdf_version(source: File) -> ModelProto:
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
    """Makes graphs of one model, whose ids are unique in all of them."""

    def __init__(self, proto: ModelProto, folder: Path | None) -> None:
        self.folder = folder
        names = {name for node in _all_nodes(proto.graph) for name in (*node.input, *node.output)}
        self.ids = Ids(find_conflicts(_all_nodes(proto.graph), {name: make_id(name) for name in names}))

    def main(self, proto: ModelProto) -> Graph:
        """The main graph, with metadata that says the model's own signature."""
        scope = self.scope(proto.graph, {}, {}, infer_types(proto))
        graph = self.graph(proto.graph, scope)
        inputs = [info.name for info in self.inputs(proto.graph, scope)]
        outputs = [self.give_output(info.name, scope, graph) for info in proto.graph.output]
        ids = [scope.ids[name] for name in inputs]
        called = dict(zip((*ids, *outputs), (*inputs, *(info.name for info in proto.graph.output)), strict=True))
        types = {id: _type_data(scope.types[name]) for id, name in called.items() if name in scope.types}
        names = {id: name for id, name in called.items() if id != name}
        graph.metadata = {INPUTS: ids, OUTPUTS: outputs, TYPES: {id: type for id, type in types.items() if type}}
        graph.metadata |= {NAMES: names} if names else {}
        return graph

    def body(self, proto: GraphProto, outer: Scope) -> Graph:
        """A nested graph, with the ids of its formal inputs and outputs as metadata."""
        made = {name for node in proto.node for name in node.output}
        types = {name: type for name, type in outer.types.items() if name not in made}
        types |= {info.name: info.type for info in (*proto.value_info, *proto.output, *proto.input)}
        scope = self.scope(proto, outer.ids, outer.constants, types)
        graph = self.graph(proto, scope)
        outputs = [
            self.give_output(info.name, scope, graph) if info.name in scope.constants else scope.ids[info.name]
            for info in proto.output
        ]
        graph.metadata = {INPUTS: [scope.ids[info.name] for info in self.inputs(proto, scope)], OUTPUTS: outputs}
        return graph

    def scope(
        self,
        proto: GraphProto,
        ids: Mapping[str, str],
        constants: Mapping[str, Fixed],
        types: Mapping[str, onnx.TypeProto],
    ) -> Scope:
        """The names of a graph: ids of what is computed or comes in, values of what is constant."""
        own = self.constants(proto)
        made = [info.name for info in proto.input if info.name not in own]
        made += [name for node in proto.node for name in node.output if name and name not in own]
        own_types = {info.name: info.type for info in (*proto.input, *proto.value_info, *proto.output)}
        around = {name: type for name, type in types.items() if name not in own and (name not in made or not ids)}
        fixed = {name: value for name, value in constants.items() if name not in made} | own
        known = {name: id for name, id in ids.items() if name not in own} | {name: self.ids.new(name) for name in made}
        scope = Scope(
            self.ids, self.folder, known, fixed, {**own_types, **around}, lambda inner: self.body(inner, scope)
        )
        return scope

    def constants(self, proto: GraphProto) -> dict[str, Fixed]:
        """The initializers and Constants of a graph."""
        own: dict[str, Fixed] = {t.name: as_array(initializer_value(t, self.folder, t.name)) for t in proto.initializer}
        own |= {sparse.values.name: dense(sparse, sparse.values.name) for sparse in proto.sparse_initializer}
        for node in proto.node:
            if node.op_type == "Constant" and not domain_of(node.domain):
                own[node.output[0]] = _array(attribute_value(node.attribute[0], self.folder))
        return own

    def inputs(self, proto: GraphProto, scope: Scope) -> list[onnx.ValueInfoProto]:
        return [info for info in proto.input if info.name not in scope.constants]

    def graph(self, proto: GraphProto, scope: Scope) -> Graph:
        """The nodes of a graph, and the edges between them."""
        graph = Graph(proto.name or "graph")
        for node in proto.node:
            if node.op_type != "Constant" or domain_of(node.domain):
                graph.nodes |= {built.id: built for built in write_nodes(node, scope)}
        senders = {port: node.id for node in graph.nodes.values() for port in node.output_ports}
        for node in graph.nodes.values():
            for port in node.input_ports:
                if port in senders:
                    id = f"{senders[port]}.{port}_{node.id}.{port}"
                    graph.edges[id] = Edge(id, senders[port], port, node.id, port)
        return graph

    def give_output(self, name: str, scope: Scope, graph: Graph) -> str:
        """The port that gives an output; one of a new node for a constant, and for what only comes in."""
        id = scope.ids.get(name)
        if id is not None and any(id in node.output_ports for node in graph.nodes.values()):
            return id
        node, port = self.ids.new(f"{name}_value"), self.ids.new(name)
        if id is not None:
            graph.nodes[node] = pass_on(node, id, port, name, scope)
        elif name in scope.constants:
            graph.nodes[node] = give_out(node, scope.constants[name], port)
        else:
            raise LoadError(f"output {name!r} is not produced by any node", f"graph {graph.id!r}")
        return port


def _type_data(proto: onnx.TypeProto) -> dict[str, object] | None:
    is_known = proto.WhichOneof("value") in ("tensor_type", "sequence_type", "optional_type")
    return data_of_type(type_from(proto, "a value")) if is_known else None


def _array(value: object) -> Fixed:
    """The value of a Constant as an array; texts stay texts."""
    if isinstance(value, np.ndarray | str):
        return value
    if isinstance(value, tuple) and any(isinstance(text, str) for text in value):
        return value
    array = np.asarray(value)
    return array.astype(np.float32) if array.dtype.kind == "f" else array.astype(np.int64)
