"""OneHot without negative indices, TopK with k as an attribute, Compress without negative axes."""

from __future__ import annotations

import numpy as np

from whorl.errors import SaveError
from whorl.formats.onnx.exporting import NodeWriter, exporter
from whorl.formats.onnx.importing import OnnxNode, importer, make_op
from whorl.formats.onnx.versions.constants import fixed_ints
from whorl.formats.onnx.versions.limits import axis_for, require_element_type
from whorl.ir.build import Builder
from whorl.ir.dtypes import INT64, UNSIGNED
from whorl.ir.graph import Node, Value
from whorl.ir.types import tensor
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import Less, Where
from whorl.ops.movement.selection import Compress, OneHot, TopK
from whorl.ops.movement.shapes import Reshape


@importer("OneHot", until=10)
def onehot_9(node: OnnxNode, build: Builder) -> list[Value]:
    """A negative index is outside, as `depth` is."""
    indices, depth, values = (node.required(k) for k in range(3))
    if tensor(indices).dtype not in UNSIGNED:
        indices = build.add(Cast(INT64), indices)
        outside = build.add(Reshape(), build.add(Cast(INT64), depth), build.int64(name="scalar"))
        negative = build.add(Less(), indices, build.constant(np.array(0, np.int64), "zero"))
        indices = build.add(Where(), negative, outside, indices)
    return build.add_many(make_op(node), [indices, depth, values], node.outputs, name=node.name)


@exporter("OneHot", until=10)
def onehot_10(node: Node, write: NodeWriter) -> None:
    """A negative index is counted from the front; what is still negative then becomes `depth`, which is outside.

    Outside is all that version 9 asks of it, but runtimes take a negative index as later versions do.
    """
    op, (indices, depth, values) = node.op, node.inputs
    assert isinstance(op, OneHot) and indices is not None and values is not None
    require_element_type(indices, op.name, write)
    names = [write.name(indices), write.name(depth), write.name(values)]
    if tensor(indices).dtype not in UNSIGNED:
        wide, number, classes = write.fresh("indices"), write.fresh("depth"), write.fresh("classes")
        write.node("Cast", names[:1], [wide], to=INT64)
        write.node("Cast", names[1:2], [number], to=INT64)
        write.node("Reshape", [number, write.constant(np.zeros(0, np.int64), "scalar")], [classes])
        write.node("Add", [wide, classes], [counted := write.fresh("counted")])
        names[0] = _where_negative(_where_negative(wide, counted, write), classes, write)
    axis = op.axis if op.axis == -1 else axis_for(op.axis, node.outputs[0], write)
    write.node(op.name, names, write.outputs(node), name=node.name, axis=axis)


def _where_negative(number: str, then: str, write: NodeWriter) -> str:
    """`then` where the number is negative, elsewhere the number itself."""
    negative, result = write.fresh("negative"), write.fresh("index")
    write.node("Less", [number, write.constant(np.array(0, np.int64), "zero")], [negative])
    write.node("Where", [negative, then, number], [result])
    return result


@importer("TopK", until=9)
def topk_1(node: OnnxNode, build: Builder) -> list[Value]:
    """k is an attribute."""
    count = build.int64(node.attribute("k"), name="k")
    return build.add_many(make_op(node, k=None), [node.required(0), count], node.outputs, name=node.name)


@exporter("TopK", until=10)
def topk_10(node: Node, write: NodeWriter) -> None:
    """Always the largest ones, sorted; k is an attribute before 10."""
    op, (x, k) = node.op, node.inputs
    assert isinstance(op, TopK) and x is not None and k is not None
    require_element_type(x, op.name, write)
    if not op.largest:
        raise SaveError("takes the smallest elements", fix="opset 11 or later can say it")
    outputs = write.outputs(node)
    outputs += [write.fresh("unused") for _ in range(2 - len(outputs))]
    if write.opset == 10:
        return write.node(op.name, [write.name(x), write.name(k)], outputs, name=node.name, axis=op.axis)
    (count,) = fixed_ints(k, "k", 10, write)
    if count < 1:
        raise SaveError(f"k is {count}", fix="opset 10 or later can say it")
    write.node(op.name, [write.name(x)], outputs, name=node.name, axis=op.axis, k=count)


@exporter("Compress", until=10)
def compress_10(node: Node, write: NodeWriter) -> None:
    """The axis counts from the front."""
    op, x = node.op, node.inputs[0]
    assert isinstance(op, Compress)
    require_element_type(x, op.name, write)
    axis = None if op.axis is None else axis_for(op.axis, x, write)
    write.node(op.name, [write.name(v) for v in node.inputs], write.outputs(node), name=node.name, axis=axis)
