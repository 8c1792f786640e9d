"""From a ModelProto to a module: graphs, nodes, functions, in the file's order or sorted where it has none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

import whorl.ops
from whorl.errors import LoadError, TypeRuleError, UnsupportedError, WhorlError, format_location
from whorl.formats.onnx import microsoft, versions
from whorl.formats.onnx.attributes import attribute_value, with_kind
from whorl.formats.onnx.context import (
    ReadContext,
    domain_of,
    find_graph_reader,
    function_key,
    functions_by_key,
    node_title,
    opset_versions,
)
from whorl.formats.onnx.external import initializer_value
from whorl.formats.onnx.folding import Folding
from whorl.formats.onnx.importing import OnnxNode, find_importer
from whorl.formats.onnx.node_cache import op_of
from whorl.formats.onnx.ordering import free_names, reading_order, stuck_error
from whorl.formats.onnx.protos import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, ValueInfoProto
from whorl.formats.onnx.schemas import schema_for, schema_function
from whorl.formats.onnx.scope import Scope
from whorl.formats.onnx.screening import all_supported, refuse_bytes, refuse_explosion, refuse_unsupported
from whorl.formats.onnx.signatures import check_node, readable_signature
from whorl.formats.onnx.tensors import dense, type_from
from whorl.formats.options import LoadOptions
from whorl.ir.constants import as_array
from whorl.ir.graph import Module, Region, Value
from whorl.ir.infer import Inference, escape
from whorl.ir.types import AnyShape, OptionalType, SequenceType, Shape, TensorType, Type, meet, same_kind
from whorl.passes.context import Context

assert whorl.ops and versions and microsoft


def read_model(
    proto: ModelProto,
    options: LoadOptions,
    folder: Path | None = None,
    declared: Mapping[str, Type] = MappingProxyType({}),
    folding: Context | None = None,
) -> Module:
    """A model as a typed module. Errors: LoadError; UnsupportedError names every unsupported op with its place.

    `declared` are types to trust where inference knows less, by the names of values. With `folding`, nodes of constants
    are computed and never become nodes.
    """
    graphs, operators = refuse_bytes(proto)
    opsets = opset_versions(proto.opset_import)
    context = ReadContext(opsets, functions_by_key(proto.functions), options, folder, declared=declared)
    if folding is not None:
        outputs = {info.name for graph in graphs for info in graph.output}
        context.folding = Folding(folding, outputs.union(*(function.output for function in proto.functions)))
    if context.functions or len(graphs) > 1 or not all_supported(operators, context):
        refuse_unsupported(proto.graph, context)
    refuse_explosion(proto, context.functions)
    region = Region(proto.graph.name)
    scope = Scope(region, Inference(_declared_names(graphs)))
    module = Module(region, [output.name for output in proto.graph.output])
    _add_inputs(proto, scope, module, context)
    read_nodes(proto.graph.node, scope, context)
    region.results = [_output(output, scope, context) for output in proto.graph.output]
    outputs = {info.name: declared_type(info, f"output {info.name!r}") for info in proto.graph.output}
    module.declared = {name: type for name, type in outputs.items() if type is not None}
    module.metadata = _metadata(proto, opsets) | {"contradictions": list(dict.fromkeys(context.contradictions))}
    return module


def _metadata(proto: ModelProto, opsets: dict[str, int]) -> dict[str, Any]:
    return {
        "opsets": opsets,
        "ir_version": proto.ir_version,
        "producer_name": _readable(proto.producer_name),
        "producer_version": _readable(proto.producer_version),
        "domain": _readable(proto.domain),
        "model_version": proto.model_version,
        "description": _readable(proto.doc_string),
        "graph_name": proto.graph.name,
        "graph_description": _readable(proto.graph.doc_string),
        "properties": {_readable(p.key): _readable(p.value) for p in proto.metadata_props},
    }


def _readable(text: str | bytes) -> str:
    """A text of the file; protobuf hands out what is not UTF-8 as bytes."""
    return text if isinstance(text, str) else text.decode("utf-8", "replace")


def _declared_names(graphs: Iterable[GraphProto]) -> set[str]:
    """Dim names that graphs use, so that fresh names keep clear of them."""
    return {
        dim.dim_param
        for graph in graphs
        for info in (*graph.input, *graph.output, *graph.value_info)
        for dim in info.type.tensor_type.shape.dim
        if dim.dim_param
    }


# ---- graphs ------------------------------------------------------------------------------------------------------


def _add_inputs(proto: ModelProto, scope: Scope, module: Module, context: ReadContext) -> None:
    graph = proto.graph
    constants = add_initializers(graph, scope, context)
    for info in graph.input:
        if info.name in constants and proto.ir_version < 4:
            continue
        type = _without_names_in_sequences(type_from(info.type, f"input {info.name!r}"))
        if info.name in scope.values:
            raise LoadError(f"input {info.name!r} is declared twice")
        argument = scope.region.add_argument(info.name, type)
        scope.inference.set_type(argument, type)
        scope.values[info.name] = argument
        if info.name in constants:
            del scope.initializers[info.name], scope.constants[info.name]
            module.defaults[info.name] = _default(info.name, type, constants[info.name])


def _without_names_in_sequences(type: Type) -> Type:
    """The elements of a sequence differ, so a name for their lengths binds nothing."""
    match type:
        case SequenceType():
            return escape(type, set())
        case OptionalType():
            return OptionalType(_without_names_in_sequences(type.element))
        case _:
            pass
    return type


def _default(name: str, type: Type, value: Any) -> Any:
    """The initializer of an input, which must be a value that the input could be given."""
    actual = TensorType(value.dtype, tuple(value.shape))
    if not isinstance(type, TensorType) or type.dtype != actual.dtype or not _may_be(type.shape, value.shape):
        raise LoadError(f"input {name!r} is declared {type}, its default is {actual}", fix="correct the declaration")
    return value


def _may_be(declared: Shape, shape: tuple[int, ...]) -> bool:
    if isinstance(declared, AnyShape):
        return True
    known = [dim if isinstance(dim, int) else size for dim, size in zip(declared, shape, strict=False)]
    return len(declared) == len(shape) and known == list(shape)


def add_initializers(graph: GraphProto, scope: Scope, context: ReadContext) -> dict[str, Any]:
    """Make the graph's initializers known to its scope; returns their values by name."""
    constants: dict[str, Any] = {}
    for tensor in graph.initializer:
        what = f"initializer {tensor.name!r}"
        _define(
            constants, tensor.name, initializer_value(tensor, context.folder, what, context.options.needs_weights), what
        )
    for sparse in graph.sparse_initializer:
        what = f"sparse initializer {sparse.values.name!r}"
        _define(constants, sparse.values.name, dense(sparse, what), what)
    for name, value in constants.items():
        scope.add_constant(name, value)
    return constants


def _define(constants: dict[str, Any], name: str, value: Any, what: str) -> None:
    """Add a constant; a file may repeat one, but not with another value."""
    earlier = constants.setdefault(name, value)
    if earlier is not value and not _same(as_array(earlier), as_array(value)):
        raise LoadError(f"{what} is given twice, with different values", fix="rename one of them")


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and np.array_equal(a, b)


def _output(info: ValueInfoProto, scope: Scope, context: ReadContext) -> Value:
    value = scope.find(info.name)
    if value is None:
        raise LoadError(f"output {info.name!r} is not produced by any node", context.location)
    what, type = f"output {info.name!r}", value.type
    declared = declared_type(info, what)
    inner = type.element if isinstance(type, OptionalType) and not isinstance(declared, OptionalType) else type
    if declared is not None and not same_kind(declared, inner):
        message = f"{what} is declared {declared} but computed as {type}"
        raise LoadError(message, context.location, "correct the declaration")
    return value


def declared_type(info: ValueInfoProto, what: str) -> Type | None:
    """The type a file declares for a value, None where it is left out."""
    kind = info.type.WhichOneof("value")
    if kind is None or (kind == "tensor_type" and info.type.tensor_type.elem_type == 0):
        return None
    return type_from(info.type, what)


def read_nodes(nodes: Iterable[NodeProto], scope: Scope, context: ReadContext) -> None:
    """Read nodes in the file's order, postponing any whose inputs are not there yet."""
    all_nodes = list(nodes)
    with np.errstate(all="ignore"):
        for position, node in enumerate(all_nodes):
            if context.folding is None or not context.folding.fold(node, scope, context):
                if not all(map(scope.defines, free_names(node))):
                    _read_unordered(all_nodes[position:], scope, context)
                    return
                read_node(node, scope, context)
            if context.folding is not None and (context.folding.fresh or context.folding.last):
                context.folding.forget(all_nodes, position, scope)


def _read_unordered(nodes: list[NodeProto], scope: Scope, context: ReadContext) -> None:
    order = reading_order(nodes, scope.defines)
    for node in order.nodes:
        if context.folding is None or not context.folding.fold(node, scope, context):
            read_node(node, scope, context)
    if order.stuck:
        raise stuck_error(order.stuck, context)


# ---- nodes -------------------------------------------------------------------------------------------------------


def read_node(proto: NodeProto, scope: Scope, context: ReadContext) -> None:
    """Add one node of the file to the graph and give its outputs their names."""
    try:
        values = _read_node(proto, scope, context)
        _name_outputs(proto, values, scope, context)
    except TypeRuleError as error:
        where = format_location(error.where or node_title(proto), *context.regions)
        raise LoadError(error.message, where, error.fix) from None
    except WhorlError as error:
        title = node_title(proto)
        bare = type(error)(error.message, fix=error.fix) if error.where == title else error
        raise bare.at(format_location(title, *context.regions)) from None


def _name_outputs(proto: NodeProto, values: list[Value], scope: Scope, context: ReadContext) -> None:
    for k, name in enumerate(proto.output):
        if not name:
            continue
        if k >= len(values):
            raise LoadError(f"has no output {k}")
        if name in scope.values or name in scope.initializers:
            raise LoadError(f"produces {name!r}, which already has a value", fix="rename one of them")
        if context.folding is not None and len(values) == 1 and context.folding.note(name, values[k], scope):
            continue
        scope.values[name] = values[k]
        if name in context.declared:
            _narrow(values[k], context.declared[name], scope)


def _narrow(value: Value, declared: Type, scope: Scope) -> None:
    """Add to a value's type what only the file says of it; another element type than the computed one is refused."""
    if same_kind(value.type, declared):
        scope.inference.set_type(value, meet(value.type, declared))
    elif isinstance(value.type, TensorType) and isinstance(declared, TensorType):
        raise LoadError(f"gives {value.type}, which is declared {declared}", fix="correct the declaration")


def _read_node(proto: NodeProto, scope: Scope, context: ReadContext) -> list[Value]:
    names, results = list(proto.input), list(proto.output)
    op = op_of(proto, names, results, context)
    if op is not None:
        operands = [scope.find(name) for name in names]
        if None not in operands:
            return scope.build.add_many(op, operands, results, name=proto.name)
    domain = domain_of(proto.domain)
    attributes = [resolved for a in proto.attribute if (resolved := _resolve(a, context)) is not None]
    inputs = [scope.find(name) if name else None for name in proto.input]
    proto = _blanked(proto, inputs)
    function = context.functions.get((domain, proto.op_type, proto.overload))
    if function is not None:
        return call_function(function, inputs, attributes, proto, scope, context)
    signature = readable_signature(proto.op_type, domain, context.opsets.get(domain, 1))
    check_node(proto, attributes, signature)
    values = {a.name: attribute_value(a, context.folder) for a in attributes}
    while inputs and inputs[-1] is None:
        inputs.pop()
    named = max((k for k, name in enumerate(proto.output, 1) if name), default=0)
    outputs = [name or f"{proto.name or proto.op_type}.{k}" for k, name in enumerate(proto.output[: max(named, 1)])]
    node = OnnxNode(proto.op_type, domain, signature.since_version, proto.name, inputs, outputs, values)
    read_graphs = find_graph_reader(domain, proto.op_type)
    if read_graphs is not None:
        return read_graphs(node, proto, scope, context)
    read = find_importer(node)
    if read is None:
        schema = schema_for(proto.op_type, domain, signature.since_version)
        function = schema_function(proto, schema, inputs)
        assert function is not None
        return call_function(function, inputs, attributes, proto, scope, context)
    result = read(node, scope.build)
    return result if isinstance(result, list) else [result]


def _blanked(proto: NodeProto, inputs: list[Value | None]) -> NodeProto:
    """The node with a blank in place of every name that a call of a function leaves without a value."""
    names = [name if value is not None else "" for name, value in zip(proto.input, inputs, strict=True)]
    if names == list(proto.input):
        return proto
    copy = NodeProto()
    copy.CopyFrom(proto)
    copy.input[:] = names
    return copy


def _resolve(attribute: AttributeProto, context: ReadContext) -> AttributeProto | None:
    """An attribute with its reference to a function's attribute replaced; None where the caller gave none."""
    if not attribute.ref_attr_name:
        return with_kind(attribute)
    if attribute.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS):
        raise UnsupportedError(
            f"attribute {attribute.name!r} is a graph that the caller of the function gives", fix="inline the function"
        )
    bound = context.bound.get(attribute.ref_attr_name)
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
    context: ReadContext,
) -> list[Value]:
    """Inline a call: the body's names live in a scope of their own, its nodes go into the caller's region."""
    key = function_key(function)
    if key in context.calls:
        raise LoadError(f"function {function.name!r} calls itself", fix="use a Loop")
    if len(context.calls) >= context.options.max_depth:
        raise LoadError(
            f"functions call each other deeper than {context.options.max_depth}",
            fix="raise max_depth if the file is trusted",
        )
    if len(inputs) > len(function.input):
        raise LoadError(f"passes {len(inputs)} inputs to function {function.name!r}, which takes {len(function.input)}")
    own = {a.name: a for a in attributes}
    unknown = own.keys() - set(function.attribute) - {a.name for a in function.attribute_proto}
    if unknown:
        raise LoadError(f"attribute {sorted(unknown)[0]!r} is not one of function {function.name!r}")
    bound = {a.name: a for a in function.attribute_proto} | own
    body = scope.callee()
    padded = [*inputs, *[None] * (len(function.input) - len(inputs))]
    for name, value in zip(function.input, padded, strict=True):
        if value is None:
            body.absent.add(name)
        else:
            body.values[name] = value
    read_nodes(function.node, body, context.called(function, bound))
    results = []
    for name in list(function.output)[: len(proto.output)]:
        value = body.find(name)
        if value is None:
            raise LoadError(f"function {function.name!r} does not produce its output {name!r}")
        results.append(value)
    return results


def read_body(graph: GraphProto, scope: Scope, context: ReadContext, types: list[Type | None]) -> list[Value]:
    """Read a nested graph into `scope.region`: arguments of the given types, nodes, and its outputs as results."""
    constants = add_initializers(graph, scope, context)
    inputs = [info for info in graph.input if info.name not in constants]
    if len(inputs) != len(types):
        raise LoadError(f"takes {len(inputs)} inputs, expected {len(types)}", context.location)
    for info, type in zip(inputs, types, strict=True):
        _add_argument(info, type, scope, f"input {info.name!r} of {context.regions[0]}")
    return read_results(graph, scope, context)


def read_results(graph: GraphProto, scope: Scope, context: ReadContext) -> list[Value]:
    """Read the nodes of a nested graph whose inputs and initializers have their names; returns its outputs."""
    scope.inference.depth += 1
    try:
        read_nodes(graph.node, scope, context)
        return [_output(info, scope, context) for info in graph.output]
    finally:
        scope.inference.depth -= 1


def _add_argument(info: ValueInfoProto, type: Type | None, scope: Scope, what: str) -> None:
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
