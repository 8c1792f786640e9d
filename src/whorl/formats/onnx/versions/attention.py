"""Attention before 24: a mask of length 1 is broadcast over the keys, where later versions pad it."""

from __future__ import annotations

from whorl.formats.onnx.importing import OnnxNode, importer, make_op
from whorl.ir.build import Builder
from whorl.ir.graph import Value
from whorl.ops.elementwise import Add
from whorl.ops.shapes import Expand, Shape

_MASK, _PAST_KEY = 3, 4


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
