"""From a ModelProto to a module: graphs, nodes, functions, in the file's order or sorted where it has none."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import onnx
from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto

import whorl.ops
from whorl.errors import LoadError, TypeRuleError, UnsupportedError, WhorlError, place, quoted
from whorl.formats.onnx import versions
from whorl.formats.onnx.attributes import attribute_value
from whorl.formats.onnx.external import initializer_value
from whorl.formats.onnx.importing import OnnxNode, find_importer
from whorl.formats.onnx.schemas import NEWEST, check_node, schema_for, schema_function
from whorl.formats.onnx.scope import Scope
from whorl.formats.onnx.tensors import dense, type_from
from whorl.ir.build import Builder
from whorl.ir.graph import Module, Region, Value
from whorl.ir.infer import Inference
from whorl.ir.types import OptionalType, TensorType, Type, same_kind

assert whorl.ops and versions

MAX_DEPTH = 64
"""Nested graphs a model may have unless the caller allows more."""


@dataclass(frozen=True)
class LoadOptions:
    """How files are read.

    `condition_when_omitted`: "specification" ignores what the body of a Loop without a condition input answers,
    "honour" stops there as onnxruntime and OpenVINO do. `max_depth`: nested graphs and function calls allowed.
    """

    condition_when_omitted: str = "specification"
    max_depth: int = MAX_DEPTH

    def __post_init__(self) -> None:
        if self.condition_when_omitted not in ("specification", "honour"):
            raise LoadError(
                f"condition_when_omitted is {self.condition_when_omitted!r}", fix="use 'specification' or 'honour'"
            )


@dataclass
class Frame:
    """What holds while one graph is read: versions, the attributes of the function call, the place, the depth."""

    opsets: dict[str, int]
    functions: dict[tuple[str, str, str], FunctionProto]
    options: LoadOptions
    folder: Path | None = None
    bound: dict[str, AttributeProto] = field(default_factory=dict)
    regions: tuple[str, ...] = ()
    calls: tuple[tuple[str, str, str], ...] = ()

    def inside(self, region: str) -> Frame:
        """The frame of a graph nested in this one."""
        if len(self.regions) >= self.options.max_depth:
            raise LoadError(
                f"graphs are nested deeper than {self.options.max_depth}", fix="raise max_depth if the file is trusted"
            )
        return Frame(
            self.opsets, self.functions, self.options, self.folder, self.bound, (region, *self.regions), self.calls
        )


def read_model(proto: ModelProto, options: LoadOptions, folder: Path | None = None) -> Module:
    """A model as a typed module. Errors: LoadError; UnsupportedError names every unsupported op with its place."""
    opsets = opset_versions(proto.opset_import)
    functions = {(domain_of(f.domain), f.name, f.overload): f for f in proto.functions}
    frame = Frame(opsets, functions, options, folder)
    refuse_bytes([proto.graph.node, *(f.node for f in proto.functions)], [proto.graph])
    refuse_unsupported(proto.graph, frame)
    region = Region(proto.graph.name)
    scope = Scope(region, Inference(_declared_names(proto.graph)))
    module = Module(region, [output.name for output in proto.graph.output])
    _add_inputs(proto, scope, module, frame)
    read_nodes(proto.graph.node, scope, frame)
    region.results = [_output(output, scope, frame) for output in proto.graph.output]
    declared = {info.name: declared_type(info, f"output {info.name!r}") for info in proto.graph.output}
    module.declared = {name: type for name, type in declared.items() if type is not None}
    module.metadata = _metadata(proto, opsets)
    return module


def domain_of(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def opset_versions(imports: Iterable[onnx.OperatorSetIdProto]) -> dict[str, int]:
    """Domain -> version; a file without any import means version 1 of the main domain."""
    opsets: dict[str, int] = {}
    for entry in imports:
        domain, version = domain_of(entry.domain), entry.version
        newest = NEWEST.get(domain)
        if newest is not None and not 1 <= version <= newest:
            raise UnsupportedError(
                f"the model uses version {version} of domain {domain or 'ai.onnx'!r}; versions 1 to {newest} are known",
                fix="convert the model with onnx.version_converter",
            )
        opsets[domain] = version
    return opsets or {"": 1}


def function_opsets(function: FunctionProto, outer: dict[str, int]) -> dict[str, int]:
    """The versions that hold in a function's body: its own imports, the model's for domains it does not import."""
    return outer | (opset_versions(function.opset_import) if function.opset_import else {})


def _metadata(proto: ModelProto, opsets: dict[str, int]) -> dict[str, Any]:
    return {
        "opsets": opsets,
        "ir_version": proto.ir_version,
        "producer_name": proto.producer_name,
        "producer_version": proto.producer_version,
        "domain": proto.domain,
        "model_version": proto.model_version,
        "description": proto.doc_string,
        "graph_name": proto.graph.name,
        "graph_description": proto.graph.doc_string,
        "properties": {p.key: p.value for p in proto.metadata_props},
    }


def _declared_names(graph: GraphProto) -> set[str]:
    """Dim names the file uses anywhere, so that fresh names keep clear of them."""
    names: set[str] = set()
    graphs = [graph]
    while graphs:
        current = graphs.pop()
        for info in (*current.input, *current.output, *current.value_info):
            names |= {d.dim_param for d in info.type.tensor_type.shape.dim if d.dim_param}
        graphs += [g for node in current.node for a in node.attribute for g in (a.g, *a.graphs) if g.ByteSize()]
    return names


# ---- graphs ------------------------------------------------------------------------------------------------------


def _add_inputs(proto: ModelProto, scope: Scope, module: Module, frame: Frame) -> None:
    graph = proto.graph
    constants = add_initializers(graph, scope, frame)
    for info in graph.input:
        if info.name in constants and proto.ir_version < 4:
            continue
        type = type_from(info.type, f"input {info.name!r}")
        if info.name in scope.values:
            raise LoadError(f"input {info.name!r} is declared twice")
        argument = scope.region.add_argument(info.name, type)
        scope.inference.set_type(argument, type)
        scope.values[info.name] = argument
        if info.name in constants:
            del scope.initializers[info.name]
            module.defaults[info.name] = constants[info.name]


def add_initializers(graph: GraphProto, scope: Scope, frame: Frame) -> dict[str, Any]:
    """Make the graph's initializers known to its scope; returns their values by name."""
    constants: dict[str, Any] = {}
    for tensor in graph.initializer:
        constants[tensor.name] = initializer_value(tensor, frame.folder, f"initializer {tensor.name!r}")
    for sparse in graph.sparse_initializer:
        constants[sparse.values.name] = dense(sparse, f"sparse initializer {sparse.values.name!r}")
    for name, value in constants.items():
        scope.initializers[name] = _maker(value, name)
    return constants


def _maker(value: Any, name: str) -> Callable[[Builder], Value]:
    return lambda build: build.constant(value, name)


def _output(info: onnx.ValueInfoProto, scope: Scope, frame: Frame) -> Value:
    value = scope.find(info.name)
    if value is None:
        raise LoadError(f"output {info.name!r} is not produced by any node", place("the graph", *frame.regions))
    check_declared(info, value.type, f"output {info.name!r}")
    return value


def check_declared(info: onnx.ValueInfoProto, type: Type, what: str) -> None:
    """Refuse a declared element type or kind that contradicts what the graph computes."""
    declared = declared_type(info, what)
    inner = type.element if isinstance(type, OptionalType) and not isinstance(declared, OptionalType) else type
    if declared is not None and not same_kind(declared, inner):
        raise LoadError(f"{what} is declared {declared} but computed as {type}", fix="correct the declaration")


def declared_type(info: onnx.ValueInfoProto, what: str) -> Type | None:
    """The type a file declares for a value, None where it is left out."""
    kind = info.type.WhichOneof("value")
    if kind is None or (kind == "tensor_type" and info.type.tensor_type.elem_type == 0):
        return None
    return type_from(info.type, what)


def read_nodes(nodes: Iterable[NodeProto], scope: Scope, frame: Frame) -> None:
    """Read nodes in the file's order, postponing any whose inputs are not there yet."""
    waiting = list(nodes)
    needs = [free_names(node) for node in waiting]
    produced = {name for node in waiting for name in node.output if name}
    while waiting:
        postponed: list[NodeProto] = []
        later: list[set[str]] = []
        for node, names in zip(waiting, needs, strict=True):
            if all(scope.knows(name) for name in names):
                read_node(node, scope, frame)
            else:
                postponed.append(node)
                later.append(names)
        if len(postponed) == len(waiting):
            raise _stuck(postponed, later, scope, produced, frame)
        waiting, needs = postponed, later


def _stuck(nodes: list[NodeProto], needs: list[set[str]], scope: Scope, produced: set[str], frame: Frame) -> LoadError:
    for node, names in zip(nodes, needs, strict=True):
        for name in sorted(names):
            if not scope.knows(name) and name not in produced:
                where = place(node_title(node), *frame.regions)
                return LoadError(f"reads {name!r}, which nothing produces", where, "add the missing input or node")
    shown = ", ".join(node_title(node) for node in nodes[:4])
    return LoadError(f"nodes form a cycle: {shown}", place("the graph", *frame.regions))


def node_title(node: NodeProto) -> str:
    return quoted(node.op_type, node.name or next((name for name in node.output if name), ""))


def free_names(node: NodeProto) -> set[str]:
    """The names a node reads from its own graph or from around it, inside its subgraphs too."""
    names = {name for name in node.input if name}
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            names |= _free_in(attribute.g)
        elif attribute.type == AttributeProto.GRAPHS:
            names = names.union(*(_free_in(graph) for graph in attribute.graphs))
    return names


def _free_in(graph: GraphProto) -> set[str]:
    """Names used in a graph before the graph itself gives them a meaning."""
    own = {info.name for info in graph.input}
    own |= {t.name for t in graph.initializer} | {s.values.name for s in graph.sparse_initializer}
    made = {name for node in graph.node for name in node.output}
    free: set[str] = set()
    for node in graph.node:
        free |= free_names(node) - own
        own |= set(node.output)
    free |= {info.name for info in graph.output} - own
    return {name for name in free if name} - made


# ---- nodes -------------------------------------------------------------------------------------------------------


def read_node(proto: NodeProto, scope: Scope, frame: Frame) -> None:
    """Add one node of the file to the graph and give its outputs their names."""
    try:
        values = _read_node(proto, scope, frame)
    except TypeRuleError as error:
        raise LoadError(error.message, place(error.where or node_title(proto), *frame.regions), error.fix) from None
    except WhorlError as error:
        raise error.at(place(node_title(proto), *frame.regions)) from None
    for k, name in enumerate(proto.output):
        if not name:
            continue
        if k >= len(values):
            raise LoadError(f"has no output {k}", place(node_title(proto), *frame.regions))
        value = values[k]
        if name in scope.values:
            raise LoadError(f"produces {name!r}, which already has a value", place(node_title(proto), *frame.regions))
        scope.values[name] = value


def _read_node(proto: NodeProto, scope: Scope, frame: Frame) -> list[Value]:
    domain = domain_of(proto.domain)
    attributes = [resolved for a in proto.attribute if (resolved := _resolve(a, frame)) is not None]
    inputs = [scope.find(name) if name else None for name in proto.input]
    function = frame.functions.get((domain, proto.op_type, proto.overload))
    if function is not None:
        return call_function(function, inputs, attributes, proto, scope, frame)
    schema = schema_for(proto.op_type, domain, frame.opsets.get(domain, 1))
    check_node(proto, attributes, schema)
    values = {a.name: attribute_value(a, node_title(proto)) for a in attributes}
    while inputs and inputs[-1] is None:
        inputs.pop()
    named = max((k for k, name in enumerate(proto.output, 1) if name), default=0)
    outputs = [name or f"{proto.name or proto.op_type}.{k}" for k, name in enumerate(proto.output[:named])]
    node = OnnxNode(proto.op_type, domain, schema.since_version, proto.name, inputs, outputs, values)
    if domain == "" and proto.op_type in GRAPH_READERS:
        return GRAPH_READERS[proto.op_type](node, proto, scope, frame)
    read = find_importer(node)
    if read is None:
        function = schema_function(proto, schema, inputs)
        assert function is not None
        return call_function(function, inputs, attributes, proto, scope, frame)
    result = read(node, scope.build)
    return result if isinstance(result, list) else [result]


GraphReader = Callable[[OnnxNode, NodeProto, Scope, Frame], list[Value]]
GRAPH_READERS: dict[str, GraphReader] = {}
"""The readers of ops with graphs: If, Loop, Scan, SequenceMap; `formats.onnx.control` fills it."""


def _resolve(attribute: AttributeProto, frame: Frame) -> AttributeProto | None:
    """An attribute with its reference to a function's attribute replaced; None where the caller gave none."""
    if not attribute.ref_attr_name:
        return attribute
    bound = frame.bound.get(attribute.ref_attr_name)
    if bound is None:
        return None
    copy = AttributeProto()
    copy.CopyFrom(bound)
    copy.name = attribute.name
    return copy


def call_function(
    function: FunctionProto,
    inputs: list[Value | None],
    attributes: list[AttributeProto],
    proto: NodeProto,
    scope: Scope,
    frame: Frame,
) -> list[Value]:
    """Inline a call: the body's names live in a scope of their own, its nodes go into the caller's region."""
    key = (domain_of(function.domain), function.name, function.overload)
    if key in frame.calls:
        raise LoadError(f"function {function.name!r} calls itself", node_title(proto))
    if len(frame.calls) >= frame.options.max_depth:
        raise LoadError(f"functions call each other deeper than {frame.options.max_depth}", node_title(proto))
    if len(inputs) > len(function.input):
        raise LoadError(f"passes {len(inputs)} inputs to function {function.name!r}, which takes {len(function.input)}")
    given = {a.name: a for a in attributes}
    unknown = given.keys() - set(function.attribute) - {a.name for a in function.attribute_proto}
    if unknown:
        raise LoadError(f"attribute {sorted(unknown)[0]!r} is not one of function {function.name!r}")
    bound = {a.name: a for a in function.attribute_proto} | given
    opsets = function_opsets(function, frame.opsets)
    inner = Frame(opsets, frame.functions, frame.options, frame.folder, bound, frame.regions, (*frame.calls, key))
    body = Scope(scope.region, scope.inference)
    padded = [*inputs, *[None] * (len(function.input) - len(inputs))]
    body.values = {name: value for name, value in zip(function.input, padded, strict=True) if value is not None}
    read_nodes(_without_absent(function, padded), body, inner)
    results = []
    for name in list(function.output)[: len(proto.output)]:
        value = body.find(name)
        if value is None:
            raise LoadError(f"function {function.name!r} does not produce its output {name!r}")
        results.append(value)
    return results


def _without_absent(function: FunctionProto, inputs: list[Value | None]) -> Iterable[NodeProto]:
    """The body's nodes, with names of inputs that the call leaves out made blank."""
    absent = {name for name, value in zip(function.input, inputs, strict=True) if value is None}
    if not absent:
        return function.node
    return [_blanked(node, absent) for node in function.node]


def _blanked(node: NodeProto, absent: set[str]) -> NodeProto:
    if not absent.intersection(node.input):
        return node
    copy = NodeProto()
    copy.CopyFrom(node)
    copy.input[:] = ["" if name in absent else name for name in node.input]
    return copy


def read_body(graph: GraphProto, scope: Scope, frame: Frame, types: list[Type | None]) -> list[Value]:
    """Read a nested graph into `scope.region`: arguments of the given types, nodes, and its outputs as results."""
    constants = add_initializers(graph, scope, frame)
    inputs = [info for info in graph.input if info.name not in constants]
    if len(inputs) != len(types):
        raise LoadError(f"takes {len(inputs)} inputs, expected {len(types)}", frame.regions[0])
    for info, type in zip(inputs, types, strict=True):
        _add_argument(info, type, scope, f"input {info.name!r} of {frame.regions[0]}")
    return read_results(graph, scope, frame)


def read_results(graph: GraphProto, scope: Scope, frame: Frame) -> list[Value]:
    """Read the nodes of a nested graph whose inputs and initializers have their names; returns its outputs."""
    scope.inference.depth += 1
    try:
        read_nodes(graph.node, scope, frame)
        return [_output(info, scope, frame) for info in graph.output]
    finally:
        scope.inference.depth -= 1


def _add_argument(info: onnx.ValueInfoProto, type: Type | None, scope: Scope, what: str) -> None:
    declared = declared_type(info, what)
    actual = type if type is not None else declared
    if actual is None:
        raise LoadError(f"{what} has no type", fix="declare its type")
    if declared is not None and type is not None and not _compatible(declared, type):
        raise LoadError(f"{what} is declared {declared} but receives {type}", fix="correct the declaration")
    if info.name in scope.values:
        raise LoadError(f"{what} is declared twice")
    argument = scope.region.add_argument(info.name, actual)
    scope.inference.set_type(argument, actual)
    scope.values[info.name] = argument


def _compatible(declared: Type, actual: Type) -> bool:
    if isinstance(declared, TensorType) or isinstance(actual, TensorType):
        return same_kind(declared, actual)
    return type(declared) is type(actual)


def refuse_bytes(node_lists: list[Iterable[NodeProto]], graphs: list[GraphProto]) -> None:
    """Refuse names that are not UTF-8, which protobuf hands out as bytes, anywhere in the model."""
    for nodes in node_lists:
        for node in nodes:
            _require_text(node.op_type, node.domain, node.overload, node.name, *node.input, *node.output)
            for attribute in node.attribute:
                _require_text(attribute.name, attribute.ref_attr_name)
                if attribute.HasField("g") or attribute.graphs:
                    graphs += [attribute.g, *attribute.graphs]
                    node_lists += [graph.node for graph in (attribute.g, *attribute.graphs)]
    for graph in graphs:
        _require_text(graph.name, *(t.name for t in graph.initializer), *(s.values.name for s in graph.sparse_initializer))
        for info in (*graph.input, *graph.output, *graph.value_info):
            _require_text(info.name, *(dim.dim_param for dim in info.type.tensor_type.shape.dim))


def _require_text(*texts: str) -> None:
    for text in texts:
        if not isinstance(text, str):
            raise LoadError(f"the name {text!r} is not UTF-8", fix="the file is damaged")


def refuse_unsupported(graph: GraphProto, frame: Frame) -> None:
    """Raise one error that names every op nobody can read, with the place of each."""
    problems: list[str] = []
    seen: set[tuple[str, str, str]] = set()

    def visit(nodes: Iterable[NodeProto], opsets: dict[str, int], regions: tuple[str, ...]) -> None:
        for node in nodes:
            domain = domain_of(node.domain)
            key = (domain, node.op_type, node.overload)
            if key in frame.functions:
                if key not in seen:
                    seen.add(key)
                    function = frame.functions[key]
                    visit(function.node, function_opsets(function, opsets), (f"function {function.name!r}", *regions))
            elif reason := _why_unsupported(node, domain, opsets):
                problems.append(f"{place(node_title(node), *regions)}: {reason}")
            for attribute in node.attribute:
                for inner in (attribute.g, *attribute.graphs):
                    if inner.node:
                        if len(regions) >= frame.options.max_depth:
                            raise LoadError(
                                f"graphs are nested deeper than {frame.options.max_depth}",
                                fix="raise max_depth if the file is trusted",
                            )
                        visit(inner.node, opsets, (f"{attribute.name} of {node_title(node)}", *regions))

    visit(graph.node, frame.opsets, ())
    if problems:
        raise UnsupportedError(
            "the model uses ops that are not supported:\n  " + "\n  ".join(problems),
            fix="replace them, or add model-local functions that define them",
        )


def _why_unsupported(node: NodeProto, domain: str, opsets: dict[str, int]) -> str:
    version = opsets.get(domain, 1 if domain in NEWEST else 0)
    if domain not in NEWEST:
        return f"domain {domain!r} is unknown and the model has no function for it"
    try:
        schema = schema_for(node.op_type, domain, version)
    except UnsupportedError as error:
        return error.message
    found = OnnxNode(node.op_type, domain, schema.since_version, node.name, [], list(node.output))
    if (domain == "" and node.op_type in GRAPH_READERS) or find_importer(found) or schema.has_function:
        return ""
    return "" if schema.has_context_dependent_function else f"version {schema.since_version} is not implemented"
