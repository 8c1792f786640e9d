"""RNN, GRU and LSTM: `output_sequence` before 7, and `layout`, which came with 14, said by Transpose."""

from __future__ import annotations

from typing import Any

from whorl.errors import SaveError
from whorl.formats.onnx.exporting import NodeWriter, exporter
from whorl.formats.onnx.importing import OnnxNode, importer, make_op
from whorl.ir.attributes import defaults
from whorl.ir.build import Builder
from whorl.ir.graph import Node, Value
from whorl.ir.types import type_string
from whorl.ops.recurrent.rnn import Recurrent

_FIRST_INITIAL = 5
"""The input position of the first initial state; the one before it is sequence_lens."""


@importer("RNN", until=6)
@importer("GRU", until=6)
@importer("LSTM", until=6)
def recurrent_1(node: OnnxNode, build: Builder) -> list[Value]:
    """`output_sequence` only says whether Y may be left out. GRU-1 misspells its default direction."""
    direction = node.attribute("direction", "forward")
    direction = "forward" if direction == "foward" else direction
    op = make_op(node, output_sequence=None, direction=direction)
    return build.add_many(op, node.inputs, node.outputs, name=node.name)


@exporter("RNN")
@exporter("GRU")
@exporter("LSTM")
def recurrent(node: Node, write: NodeWriter) -> None:
    """Batch-first tensors are transposed around the node: onnxruntime has no `layout`, which came with opset 14."""
    op = node.op
    assert isinstance(op, Recurrent)
    kind = type_string(node.outputs[0].type)
    if kind not in write.schema(op.name, "").outputs[0].types:
        raise SaveError(f"{kind} is not taken before opset 22", fix="opset 22 or later can say it")
    inputs, outputs = [write.name(value) for value in node.inputs], write.outputs(node)
    attributes = _attributes(op)
    if write.opset < 7 and outputs[0]:
        attributes["output_sequence"] = 1
    if not op.layout:
        write.node(op.name, inputs, outputs, name=node.name, **attributes)
        return
    for k in (0, *range(_FIRST_INITIAL, min(len(inputs), _FIRST_INITIAL + op.states))):
        inputs[k] = _transposed(write, inputs[k])
    inner = [write.fresh(f"{name}_seq") if name else "" for name in outputs]
    write.node(op.name, inputs, inner, name=node.name, **attributes)
    for k, (source, target) in enumerate(zip(inner, outputs, strict=True)):
        if target:
            write.node("Transpose", [source], [target], perm=(1, 0, 2) if k else (2, 0, 1, 3))


def _attributes(op: Recurrent) -> dict[str, Any]:
    """The attributes that differ from their defaults, without `layout`."""
    fields = {name: getattr(op, name) for name, default in defaults(type(op)).items() if getattr(op, name) != default}
    return {name: value for name, value in fields.items() if name != "layout"}


def _transposed(write: NodeWriter, name: str) -> str:
    if not name:
        return ""
    result = write.fresh(f"{name}_seq")
    write.node("Transpose", [name], [result], perm=(1, 0, 2))
    return result
