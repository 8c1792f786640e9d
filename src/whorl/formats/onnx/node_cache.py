"""Memoises the checks of structurally equal nodes: one operator, the same attributes, as many inputs and outputs.

Models repeat few kinds of nodes many times; what fails or is read in another way is cached as None, and the reader
checks it node by node, so that errors name the node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whorl.errors import WhorlError
from whorl.formats.onnx.attributes import attribute_value
from whorl.formats.onnx.context import ReadContext, domain_of, find_graph_reader
from whorl.formats.onnx.importing import OnnxNode, find_importer, import_by_fields, make_op
from whorl.formats.onnx.protos import AttributeProto, NodeProto
from whorl.formats.onnx.signatures import check_node, readable_signature
from whorl.ir.graph import Op

ATTRIBUTES = frozenset(
    getattr(AttributeProto, name) for name in ("FLOAT", "INT", "STRING", "TENSOR", "FLOATS", "INTS", "STRINGS")
)
"""The kinds of attributes that are values."""


def op_of(proto: NodeProto, inputs: list[str], outputs: list[str], context: ReadContext) -> Op | None:
    """The op of a node that is read field by field and has no blanks; None for any other, and for what is wrong."""
    name, attributes, domain = proto.op_type, proto.attribute[:], proto.domain
    if name == "Constant" or "" in inputs or "" in outputs or not outputs:
        return None
    contents = tuple(a.SerializeToString() for a in attributes) if attributes else ()
    key = name, domain, proto.overload, len(inputs), len(outputs), contents, context.opsets.get(domain)
    if key not in context.node_cache:
        context.node_cache[key] = _read(proto, domain_of(domain), attributes, context)
    return context.node_cache[key]


def _read(proto: NodeProto, domain: str, attributes: Sequence[AttributeProto], context: ReadContext) -> Op | None:
    if (domain, proto.op_type, proto.overload) in context.functions or find_graph_reader(domain, proto.op_type):
        return None
    if any(a.ref_attr_name or a.type not in ATTRIBUTES for a in attributes):
        return None
    try:
        signature = readable_signature(proto.op_type, domain, context.opsets.get(domain, 1))
        check_node(proto, attributes, signature)
        values: dict[str, Any] = {a.name: attribute_value(a, context.folder) for a in attributes}
        node = OnnxNode(proto.op_type, domain, signature.since_version, proto.name, [], list(proto.output), values)
        return make_op(node) if find_importer(node) is import_by_fields else None
    except WhorlError:
        return None
