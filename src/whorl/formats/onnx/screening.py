"""What is refused before any node is read: names that are not text, and all operators that nobody can read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from whorl.errors import LoadError, UnsupportedError, format_location
from whorl.formats.onnx.context import (
    FunctionKey,
    ReadContext,
    domain_of,
    find_graph_reader,
    function_opsets,
    node_title,
    require_depth,
)
from whorl.formats.onnx.importing import OnnxNode, find_importer
from whorl.formats.onnx.protos import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto
from whorl.formats.onnx.signatures import READABLE_DOMAINS, readable_signature
from whorl.ir.definitions import DEFINITIONS

OpKey = tuple[str, str, str]
"""The type, domain and overload that a node names."""
GRAPH_KINDS = (AttributeProto.UNDEFINED, AttributeProto.GRAPH, AttributeProto.GRAPHS)
"""The kinds of attributes that may hold graphs; files of IR version 1 do not say the kind."""


def refuse_bytes(model: ModelProto) -> tuple[list[GraphProto], set[OpKey]]:
    """Refuse names that are not UTF-8, which protobuf hands out as bytes, anywhere in the model.

    Returns its graphs, and the operators that its nodes name.
    """
    graphs: list[GraphProto] = [model.graph]
    operators: set[OpKey] = set()
    holders: list[GraphProto | FunctionProto] = [model.graph, *model.functions]
    _require_text(*(entry.domain for entry in model.opset_import))
    for function in model.functions:
        _require_text(function.domain, function.name, function.overload, *function.attribute)
        _require_text(*function.input, *function.output, *(a.name for a in function.attribute_proto))
        _require_text(*(entry.domain for entry in function.opset_import))
    for holder in holders:
        for node in holder.node:
            key = node.op_type, node.domain, node.overload
            operators.add(key)
            _require_text(*key, node.name, *node.input[:], *node.output[:])
            for attribute in node.attribute[:]:
                _require_text(attribute.name, attribute.ref_attr_name)
                if attribute.type not in GRAPH_KINDS:
                    continue
                inner = [*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs]
                graphs += inner
                holders += inner
    for graph in graphs:
        _require_text(graph.name, *(t.name for t in graph.initializer))
        _require_text(*(s.values.name for s in graph.sparse_initializer))
        for info in (*graph.input, *graph.output, *graph.value_info):
            _require_text(info.name, *(dim.dim_param for dim in info.type.tensor_type.shape.dim))
    return graphs, operators


def _require_text(*texts: str) -> None:
    try:
        "".join(texts)
    except TypeError:
        _refuse(texts)


def _refuse(texts: Iterable[str]) -> None:
    for text in texts:
        if not isinstance(text, str):
            raise LoadError(f"the name {text!r} is not UTF-8", fix="the file is damaged")


MAX_NODES = 1 << 20
"""Nodes a model may have once its functions are put in the place of their calls."""


def refuse_explosion(model: ModelProto, functions: Mapping[FunctionKey, FunctionProto]) -> None:
    """Refuse functions whose calls of each other multiply to more nodes than anybody means."""
    counts: dict[FunctionKey, int] = {}

    def size(nodes: Iterable[NodeProto]) -> int:
        return sum(
            called((domain_of(node.domain), node.op_type, node.overload))
            + sum(size(inner.node) for attribute in node.attribute for inner in (attribute.g, *attribute.graphs))
            for node in nodes
        )

    def called(key: FunctionKey) -> int:
        if key not in counts:
            counts[key] = 1  # What calls itself is refused where it is read.
            counts[key] = size(functions[key].node) if key in functions else 1
        return counts[key]

    total = size(model.graph.node) if functions else 0
    if total > MAX_NODES:
        raise LoadError(f"the model has {total} nodes once its functions are expanded", fix=f"keep below {MAX_NODES}")


def all_supported(operators: Iterable[OpKey], context: ReadContext) -> bool:
    """Whether every operator can be read in the versions of the main graph."""
    return not any(_why_unsupported(*key[:2], context.opsets) for key in operators)


def refuse_unsupported(graph: GraphProto, context: ReadContext) -> None:
    """Raise one error that names every op nobody can read, with the place of each."""
    problems: list[str] = []
    visited: set[tuple[str, str, str]] = set()
    reasons: dict[tuple[str, str, int | None], str] = {}

    def visit(nodes: Iterable[NodeProto], opsets: dict[str, int], regions: tuple[str, ...]) -> None:
        for node in nodes:
            domain = domain_of(node.domain)
            key = (domain, node.op_type, node.overload)
            if key in context.functions:
                if key not in visited:
                    visited.add(key)
                    function = context.functions[key]
                    visit(function.node, function_opsets(function, opsets), (f"function {function.name!r}", *regions))
            else:
                kind = domain, key[1], opsets.get(domain)
                if kind not in reasons:
                    reasons[kind] = _why_unsupported(key[1], domain, opsets)
                if reasons[kind]:
                    problems.append(f"{format_location(node_title(node), *regions)}: {reasons[kind]}")
            for attribute in node.attribute:
                if attribute.type not in GRAPH_KINDS:
                    continue
                for inner in (attribute.g, *attribute.graphs):
                    if inner.node:
                        require_depth(regions, context.options)
                        visit(inner.node, opsets, (f"{attribute.name} of {node_title(node)}", *regions))

    visit(graph.node, context.opsets, ())
    if problems:
        raise UnsupportedError(
            "the model uses ops that are not supported:\n  " + "\n  ".join(problems),
            fix="replace them, or add model-local functions that define them",
        )


def _why_unsupported(op_type: str, domain: str, opsets: dict[str, int]) -> str:
    domain = domain_of(domain)
    if domain not in READABLE_DOMAINS and (domain, op_type) not in DEFINITIONS:
        return f"domain {domain!r} is unknown and the model has no function for it"
    try:
        signature = readable_signature(op_type, domain, opsets.get(domain, 1))
    except UnsupportedError as error:
        return error.message
    bare = OnnxNode(op_type, domain, signature.since_version, "", [], [])
    if find_graph_reader(domain, op_type) or find_importer(bare) or signature.has_function:
        return ""
    return f"version {signature.since_version} is not implemented"
