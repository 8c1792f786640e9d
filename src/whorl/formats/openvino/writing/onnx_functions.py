"""Ops that OpenVINO lacks and ONNX defines by a function of simpler ops."""

from __future__ import annotations

from collections.abc import Sequence

import whorl.formats.onnx.control
from whorl.errors import SaveError
from whorl.formats.onnx.context import ReadContext
from whorl.formats.onnx.reader import call_function
from whorl.formats.onnx.schemas import schema_for, schema_function
from whorl.formats.onnx.scope import Scope
from whorl.formats.onnx.signatures import NEWEST
from whorl.formats.onnx.writer import GraphWriter, Names, write_by_fields
from whorl.formats.options import LoadOptions
from whorl.ir.build import Builder
from whorl.ir.graph import Node, Value

assert whorl.formats.onnx.control, "functions may hold branches and loops"


def defined(node: Node, build: Builder, inputs: Sequence[Value | None]) -> list[Value]:
    """The outputs of a node by the function that ONNX defines its op with. Errors: SaveError where there is none."""
    op = node.op
    write = GraphWriter(NEWEST, Names(set()), {}, None)
    for value in {*node.inputs, *node.outputs} - {None}:
        write.values[value] = write.fresh(value.name)
    function = None
    if op.domain in NEWEST:
        write_by_fields(node, write)
        proto, schema = write.graph.node[-1], schema_for(op.name, op.domain, NEWEST[op.domain])
        function = schema_function(proto, schema, node.inputs)
    if function is None:
        raise SaveError(f"OpenVINO has no form for {op.name}", fix="write it as .onnx, or without this op")
    scope = Scope(build.region, build.inference)
    context = ReadContext(dict(NEWEST), {}, LoadOptions())
    return call_function(function, list(inputs), list(proto.attribute), proto, scope, context)
