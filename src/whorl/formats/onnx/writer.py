"""From a module to a ModelProto: names, types, constants, and one ONNX node or several for each hub node."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from whorl.errors import SaveError, UnsupportedError, WhorlError
from whorl.formats.onnx import versions
from whorl.formats.onnx.dtypes import TO_ONNX
from whorl.formats.onnx.exporting import find_exporter
from whorl.formats.onnx.protos import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto
from whorl.formats.onnx.recipes import write_recipe
from whorl.formats.onnx.schemas import OpSchema, require_type, schema_for
from whorl.formats.onnx.signatures import NEWEST
from whorl.formats.onnx.tensors import proto_of, type_to
from whorl.ir.attributes import defaults
from whorl.ir.constants import Constant, LazyArray, as_array
from whorl.ir.definitions import DEFINITIONS
from whorl.ir.dims import UNKNOWN
from whorl.ir.graph import Module, Node, Region, Value
from whorl.ir.types import (
    AnyShape,
    MapType,
    OptionalType,
    SequenceType,
    TensorType,
    Type,
    meet,
    same_kind,
)

assert versions

DEFAULT_OPSET = 21
"""The opset of a module that did not come from an ONNX file."""
LOWEST_OPSET = 6


Written = tuple[ModelProto, dict[str, "np.ndarray | LazyArray"]]
"""A model without the bytes of its constants, and the constants by initializer name."""


def write_model(module: Module, opset: int | None = None, is_verbatim: bool = False) -> Written:
    """Write a module. Without `opset`: the model's own, or the lowest above it that can say everything.

    `is_verbatim`: what a body answers may be what it was passed, or another of its results; else an Identity is
    between, since engines confuse them. Errors: SaveError.
    """
    try:
        return _write(module, opset, module.metadata.get("opsets", {}), is_verbatim)
    except DecodeError:
        raise SaveError("graphs are nested deeper than an ONNX file can hold", fix="nest fewer graphs") from None


def _write(module: Module, opset: int | None, own: dict[str, int], is_verbatim: bool) -> Written:
    if opset is not None:
        return _write_at(module, opset, own, is_verbatim)
    start = max(own.get("", DEFAULT_OPSET), LOWEST_OPSET)
    first: SaveError | None = None
    for candidate in range(start, NEWEST[""] + 1):
        try:
            return _write_at(module, candidate, own, is_verbatim)
        except SaveError as error:
            first = first or error
    assert first is not None
    raise first


def _write_at(module: Module, opset: int, own: dict[str, int], is_verbatim: bool) -> Written:
    if not LOWEST_OPSET <= opset <= NEWEST[""]:
        raise SaveError(f"opset {opset} cannot be written", fix=f"choose one from {LOWEST_OPSET} to {NEWEST['']}")
    names = Names({*(value.name for value in module.main.arguments), *module.output_names})
    targets = {domain: own.get(domain, newest) for domain, newest in NEWEST.items()} | {"": opset}
    targets = {domain: own.get(domain, 1) for domain, _ in DEFINITIONS} | targets
    constants: dict[str, np.ndarray | LazyArray] = {}
    write = GraphWriter(targets, names, constants, None, is_verbatim)
    metadata = module.metadata
    graph = write.main_graph(module, metadata.get("graph_name") or "main")
    graph.doc_string = metadata.get("graph_description", "")
    from onnx import helper

    imports = [helper.make_opsetid(d, v) for d, v in targets.items() if d == "" or d in write.domains]
    model = helper.make_model(graph, opset_imports=imports)
    model.ir_version = max(8, helper.find_min_ir_version_for(imports, ignore_unknown=True))
    model.producer_name, model.producer_version = (
        metadata.get("producer_name", "") or "whorl",
        metadata.get("producer_version", ""),
    )
    model.domain, model.model_version = metadata.get("domain", ""), metadata.get("model_version", 0)
    model.doc_string = metadata.get("description", "")
    helper.set_model_props(model, dict(metadata.get("properties", {})))
    return model, constants


class Names:
    """Names of values, or of nodes, used anywhere in the model, so that no inner graph shadows an outer name."""

    def __init__(self, used: set[str]) -> None:
        self.used = set(used)
        self.counts: dict[str, int] = {}

    def fresh(self, hint: str) -> str:
        """An unused name, the hint itself if possible."""
        hint = hint or "value"
        name, count = hint, self.counts.get(hint, 0)
        while name in self.used:
            count += 1
            name = f"{hint}_{count}"
        self.used.add(name)
        self.counts[hint] = count
        return name


class GraphWriter:
    """Writes the nodes of one region into one GraphProto."""

    def __init__(
        self,
        targets: dict[str, int],
        names: Names,
        constants: dict[str, np.ndarray | LazyArray],
        outer: GraphWriter | None,
        is_verbatim: bool = False,
    ) -> None:
        self.targets, self.names, self.constants = targets, names, constants
        self.is_verbatim = is_verbatim
        self.graph = GraphProto()
        self.titles = Names(set()) if outer is None else outer.titles
        self.values: dict[Value, str] = {}
        self.domains: set[str] = set() if outer is None else outer.domains
        self.visible: ChainMap[str, np.ndarray | LazyArray] = ChainMap() if outer is None else outer.visible.new_child()

    @property
    def opset(self) -> int:
        """The ai.onnx opset that is written."""
        return self.targets[""]

    # ---- what exporters call ---------------------------------------------------------------------------------

    def name(self, value: Value | None) -> str:
        """The name of a value in the file; empty for an omitted one."""
        return "" if value is None else self.values[value]

    def fresh(self, hint: str) -> str:
        """A name that is nowhere used."""
        return self.names.fresh(hint)

    def outputs(self, node: Node) -> list[str]:
        """The names of a node's outputs."""
        return [self.values[value] for value in node.outputs]

    def node(
        self,
        op_type: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        domain: str = "",
        name: str = "",
        **attributes: Any,
    ) -> None:
        """Append a node; trailing blank inputs are dropped, attributes that are None left out."""
        operands = list(inputs)
        while operands and not operands[-1]:
            operands.pop()
        title = self.titles.fresh(name) if name else None
        proto = NodeProto(op_type=op_type, input=operands, output=outputs, domain=domain or None, name=title)
        self.domains.add(domain)
        schema = None if (domain, op_type) in DEFINITIONS else self.schema(op_type, domain)
        for key, value in attributes.items():
            if value is not None:
                proto.attribute.append(_attribute(key, value, schema))
        self.graph.node.append(proto)

    def constant(self, value: np.ndarray | LazyArray, hint: str = "const") -> str:
        """Add an initializer and return its name."""
        name = self.fresh(hint)
        self.constants[name] = self.visible[name] = value
        self.graph.initializer.append(TensorProto(name=name, data_type=TO_ONNX[value.dtype], dims=value.shape))
        return name

    def constant_value(self, value: Value | None) -> np.ndarray | None:
        """The elements of a value that is a constant here or around here; None otherwise."""
        constant = self.visible.get(self.name(value))
        return None if constant is None else as_array(constant)

    def schema(self, op_type: str, domain: str) -> OpSchema:
        """The schema that applies at the target; SaveError where the op does not exist there."""
        try:
            schema = schema_for(op_type, domain, self.targets[domain])
        except UnsupportedError as error:
            raise SaveError(error.message, fix="choose a newer opset") from None
        if schema.deprecated:
            version = schema.since_version
            raise SaveError(
                f"{op_type} is gone since version {version} of {domain or 'ai.onnx'}", fix="choose a lower opset"
            )
        return schema

    # ---- graphs ----------------------------------------------------------------------------------------------

    def main_graph(self, module: Module, name: str) -> GraphProto:
        region = module.main
        for argument in region.arguments:
            self.values[argument] = argument.name
            self.graph.input.append(_info(argument.name, argument.type, argument.name))
            if argument.name in module.defaults:
                value = module.defaults[argument.name]
                if isinstance(value, list):
                    message = f"the default of {argument.name!r} is a sequence"
                    raise SaveError(message, fix="ONNX has defaults that are tensors")
                self.constants[argument.name] = value
                self.graph.initializer.append(
                    TensorProto(name=argument.name, data_type=TO_ONNX[value.dtype], dims=value.shape)
                )
        self.graph.name = name
        graph = self.finish(region, region.results, module.output_names)
        types = module.output_types()
        for info, value in zip(graph.output, region.results, strict=True):
            info.CopyFrom(_info(info.name, types[info.name], value.name))
        return graph

    def add_inputs(self, arguments: Sequence[Value]) -> None:
        """Make region arguments inputs of the graph, under fresh names."""
        for argument in arguments:
            self.values[argument] = self.fresh(argument.name)
            self.graph.input.append(_info(self.values[argument], argument.type, argument.name))

    def finish(
        self,
        region: Region,
        results: Sequence[Value],
        names: Sequence[str] | None = None,
        declared: Mapping[int, Type | None] = MappingProxyType({}),
    ) -> GraphProto:
        """Write the nodes of a region, then its results as outputs, under fresh names unless names are given.

        `declared` adds what only a declaration says of a result, by its index.
        """
        texts = self._names_of(results) if names is None else names
        own = {value for node in region.nodes if not isinstance(node.op, Constant) for value in node.outputs}
        renamed: dict[Value, str] = {}
        for value, text in zip(results, texts, strict=True):
            if value in own and value not in renamed:
                renamed[value] = text
        for node in region.nodes:
            self.write(node, renamed)
        made: set[str] = set()
        for index, (value, text) in enumerate(zip(results, texts, strict=True)):
            if self.values[value] != text and text not in made:
                self.node("Identity", [self.values[value]], [text])
            made.add(text)
            self.graph.output.append(_info(text, value.type, value.name, declared.get(index)))
        self.graph.name = self.graph.name or region.name or "body"
        return self.graph

    def _names_of(self, results: Sequence[Value]) -> list[str]:
        """The names of what an inner graph gives: fresh ones, but for what has a name and may give it as it is."""
        texts: list[str] = []
        first: dict[Value, str] = dict(self.values) if self.is_verbatim else {}
        for value in results:
            text = first.get(value) or self.fresh(value.name)
            if self.is_verbatim:
                first[value] = text
            texts.append(text)
        return texts

    def write(self, node: Node, renamed: dict[Value, str]) -> None:
        """Write one hub node."""
        if isinstance(node.op, Constant):
            value, hint = node.op.value, node.outputs[0].name
            self.values[node.outputs[0]] = write_recipe(self, value, hint) or self.constant(value, hint)
            return
        for value in node.outputs:
            self.values[value] = renamed.get(value) or self.fresh(value.name)
        try:
            self._write_node(node)
        except WhorlError as error:
            raise SaveError(error.message, error.where or node.title, error.fix) from None
        for value in node.outputs:
            if value not in renamed and _is_ranked(value.type):
                self.graph.value_info.append(_info(self.values[value], value.type))

    def _write_node(self, node: Node) -> None:
        if node.op.domain not in self.targets:
            raise SaveError("is an operation that ONNX does not have", fix="replace it, or write .xml")
        export = find_exporter(node.op.name, self.targets[node.op.domain])
        if export is not None:
            export(node, self)
        else:
            write_by_fields(node, self)

    def child(self) -> GraphWriter:
        return GraphWriter(self.targets, self.names, self.constants, self, self.is_verbatim)


def _is_ranked(type: Type) -> bool:
    """Whether a type says enough to be worth declaring: a tensor of known rank."""
    return isinstance(type, TensorType) and not isinstance(type.shape, AnyShape)


def write_by_fields(node: Node, write: GraphWriter) -> None:
    """The node as ONNX has it: fields as attributes, inputs and outputs by position."""
    op = node.op
    schema = write.schema(op.name, op.domain)
    for index, value in enumerate(node.inputs):
        if value is not None and index < schema.max_input:
            require_type(value.type, schema, index)
    attributes: dict[str, Any] = {}
    for name, default in defaults(type(op)).items():
        value = getattr(op, name)
        if value is None or name == "output_count":
            continue
        if name in schema.attributes:
            attributes[name] = value
        elif value != default:
            raise SaveError(
                f"{name}={value!r} cannot be said in version {schema.since_version} of {op.name}",
                fix=f"opset {_newest(op.name, op.domain)} can",
            )
    if len(node.inputs) > schema.max_input:
        raise SaveError(
            f"takes {len(node.inputs)} inputs, version {schema.since_version} allows {schema.max_input}",
            fix=f"opset {_newest(op.name, op.domain)} can",
        )
    outputs = write.outputs(node)
    outputs += [write.fresh("unused") for _ in range(schema.min_output - len(outputs))]
    write.node(op.name, [write.name(x) for x in node.inputs], outputs, op.domain, node.name, **attributes)


def _newest(name: str, domain: str) -> int:
    return schema_for(name, domain, NEWEST[domain]).since_version


def _attribute(key: str, value: Any, schema: OpSchema | None) -> AttributeProto:
    known = {} if schema is None else schema.attributes
    kind = AttributeProto.AttributeType.Value(known[key].type.name) if key in known else None
    match value:
        case GraphProto():
            return AttributeProto(name=key, g=value, type=AttributeProto.GRAPH)
        case np.dtype():
            value = TO_ONNX[value]
        case np.ndarray():
            value = proto_of(value)
        case TensorType() | SequenceType() | OptionalType() | MapType():
            value = type_to(value)
        case tuple() | list() if value and isinstance(value[0], np.ndarray):
            value = [proto_of(v) for v in value]
        case bool():
            value = int(value)
        case _:
            pass
    if kind == AttributeProto.FLOATS:
        value = [float(v) for v in value]
    elif kind == AttributeProto.FLOAT:
        value = float(value)
    from onnx import helper

    return helper.make_attribute(key, list(value) if isinstance(value, tuple) else value, attr_type=kind)


def _info(name: str, type: Type, own: str | None = None, declared: Type | None = None) -> ValueInfoProto:
    """A declared value; dims that only inference named after `own` are left blank, unless `declared` says them."""
    if own is not None and isinstance(type, TensorType) and not isinstance(type.shape, AnyShape):
        blank = (UNKNOWN if str(d).partition("'")[0] == f"{own}.{k}" else d for k, d in enumerate(type.shape))
        type = TensorType(type.dtype, tuple(blank))
    if declared is not None and same_kind(declared, type):
        type = meet(type, declared)
    return ValueInfoProto(name=name, type=type_to(type))
