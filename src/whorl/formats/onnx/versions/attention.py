"""Attention before 24: a mask reaches over all keys, and length 1 is broadcast; later versions pad a short mask."""

from __future__ import annotations

import numpy as np
from msgspec.structs import asdict

from whorl.errors import SaveError
from whorl.formats.onnx.exporting import NodeWriter, exporter
from whorl.formats.onnx.importing import OnnxNode, importer, make_op
from whorl.ir import dims
from whorl.ir.build import Builder
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import BOOL
from whorl.ir.graph import Node, Value
from whorl.ir.types import AnyShape, Fact, tensor
from whorl.ops.attention.dot_product import Attention
from whorl.ops.elementwise.arithmetic import Add
from whorl.ops.movement.shapes import Expand, Shape

_MASK, _PAST_KEY, _NONPAD = 3, 4, 6
_WINDOWS = ("left_window_size", "right_window_size")


@importer("Attention", until=23)
def attention_23(node: OnnxNode, build: Builder) -> list[Value]:
    """The mask is expanded to the number of keys, past ones included."""
    mask, past = node.input(_MASK), node.input(_PAST_KEY)
    inputs = list(node.inputs)
    if mask is not None:
        keys = build.add(Shape(start=-2, end=-1), node.required(1))
        if past is not None:
            keys = build.add(Add(), build.add(Shape(start=-2, end=-1), past), keys)
        inputs[_MASK] = build.add(Expand(), mask, keys)
    return build.add_many(make_op(node), inputs, node.outputs, name=node.name)


@exporter("Attention", until=23)
def attention_24(node: Node, write: NodeWriter) -> None:
    """A mask that is not proved to reach over all keys is padded."""
    op, inputs = node.op, [*node.inputs, *(None,) * 7]
    assert isinstance(op, Attention)
    if op.left_window_size >= 0 or op.right_window_size >= 0:
        raise SaveError("attends through a window", fix="opset 25 or later can say it")
    if inputs[_NONPAD] is not None:
        raise SaveError("has the input nonpad_kv_seqlen", fix="opset 24 or later can say it")
    names = [write.name(x) for x in inputs[:_NONPAD]]
    key, mask, past = inputs[1], inputs[_MASK], inputs[_PAST_KEY]
    assert key is not None
    keys = _length(key, -2) + (0 if past is None else _length(past, -2))
    if mask is not None and not dims.equal(_length(mask, -1), keys):
        names[_MASK] = _padded(mask, names, write)
    attributes = {name: value for name, value in asdict(op).items() if name not in _WINDOWS}
    write.node("Attention", names, write.outputs(node), name=node.name, **attributes)


def _length(fact: Fact, axis: int) -> Dim:
    shape = tensor(fact).shape
    return UNKNOWN if isinstance(shape, AnyShape) else shape[axis]


def _padded(mask: Value, names: list[str], write: NodeWriter) -> str:
    """The mask with the keys past its end left out."""
    dtype = tensor(mask).dtype
    missing = _computed(write, "Shape", names[1], start=-2, end=-1)
    if names[_PAST_KEY]:
        missing = _computed(write, "Add", missing, _computed(write, "Shape", names[_PAST_KEY], start=-2, end=-1))
    missing = _computed(write, "Sub", missing, _computed(write, "Shape", names[_MASK], start=-1))
    pads = _computed(write, "Concat", write.constant(np.zeros(1, np.int64)), missing, axis=0)
    outside = write.constant(np.array(False if dtype == BOOL else -np.inf).astype(dtype))
    return _computed(write, "Pad", names[_MASK], pads, outside, write.constant(np.array([-1], np.int64)))


def _computed(write: NodeWriter, op_type: str, *inputs: str, **attributes: int) -> str:
    result = write.fresh("mask")
    write.node(op_type, inputs, [result], "", "", **attributes)
    return result
