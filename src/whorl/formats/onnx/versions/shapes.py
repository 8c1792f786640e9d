"""Shape ops before their lists became inputs, before negative axes, and before Reshape could make a length of 0."""

from __future__ import annotations

import numpy as np

from whorl.errors import SaveError
from whorl.formats.onnx.exporting import NodeWriter, exporter
from whorl.formats.onnx.importing import OnnxNode, importer, make_op
from whorl.formats.onnx.versions.constants import fixed_ints
from whorl.formats.onnx.versions.limits import axis_for, require_element_type
from whorl.ir.build import Builder
from whorl.ir.graph import Node, Value
from whorl.ir.types import tensor
from whorl.ops.core.base import known_dims, known_ints
from whorl.ops.movement.shapes import Flatten, Reshape, Shape


@importer("Reshape", until=4)
def reshape_1(node: OnnxNode, build: Builder) -> list[Value]:
    """The shape is an attribute; without one the result is a scalar."""
    shape = build.int64(*node.attribute("shape", ()), name="shape")
    return build.add_many(Reshape(), [node.required(0), shape], node.outputs, name=node.name)


@importer("Squeeze", until=11)
@importer("Unsqueeze", until=11)
def axes_1(node: OnnxNode, build: Builder) -> list[Value]:
    """The axes are an attribute."""
    axes = node.attribute("axes")
    inputs = [node.required(0)] if axes is None else [node.required(0), build.int64(*axes, name="axes")]
    return build.add_many(make_op(node, axes=None), inputs, node.outputs, name=node.name)


@exporter("Squeeze", until=12)
@exporter("Unsqueeze", until=12)
def axes_12(node: Node, write: NodeWriter) -> None:
    """The axes as an attribute; those of Unsqueeze count in the result."""
    x, *rest = node.inputs
    require_element_type(x, node.op.name, write)
    counted = node.outputs[0] if node.op.name == "Unsqueeze" else x
    axes = None
    if rest and rest[0] is not None:
        axes = [axis_for(axis, counted, write) for axis in fixed_ints(rest[0], "axes", 13, write)]
    if axes == []:
        return write.node("Identity", [write.name(x)], write.outputs(node), name=node.name)
    write.node(node.op.name, [write.name(x)], write.outputs(node), name=node.name, axes=axes)


@exporter("Squeeze")
def squeeze(node: Node, write: NodeWriter) -> None:
    """An empty list of axes squeezes nothing, but runtimes read it as no list, which squeezes everything."""
    x, *rest = node.inputs
    require_element_type(x, node.op.name, write)
    if rest and rest[0] is not None and known_ints(rest[0]) == ():
        return write.node("Identity", [write.name(x)], write.outputs(node), name=node.name)
    write.node("Squeeze", [write.name(value) for value in node.inputs], write.outputs(node), name=node.name)


@exporter("Flatten", until=10)
def flatten_10(node: Node, write: NodeWriter) -> None:
    """The axis counts from the front."""
    op, x = node.op, node.inputs[0]
    assert isinstance(op, Flatten)
    require_element_type(x, op.name, write)
    axis = axis_for(op.axis, x, write)
    write.node(op.name, [write.name(x)], write.outputs(node), name=node.name, axis=axis)


@exporter("Reshape", until=13)
def reshape_13(node: Node, write: NodeWriter) -> None:
    """A 0 always copies, which is what `allowzero` means where no length, or only a copied one, can be 0."""
    op, (x, shape) = node.op, node.inputs
    assert isinstance(op, Reshape) and x is not None and shape is not None
    require_element_type(x, op.name, write)
    if op.allowzero and not _needs_no_zero(x, shape, write):
        raise SaveError("a length of 0 in the shape would copy one", fix="opset 14 or later can say it")
    write.node(op.name, [write.name(x), write.name(shape)], write.outputs(node), name=node.name)


def _needs_no_zero(x: Value, shape: Value, write: NodeWriter) -> bool:
    constant, actual = write.constant_value(shape), tensor(x).shape
    dims = known_dims(shape) if constant is None else tuple(constant.reshape(-1).tolist())
    if dims is None or any(isinstance(d, int) and d == 0 for d in dims):
        return False
    return all(Reshape().is_certain(d, axis, actual) for axis, d in enumerate(dims))


@exporter("Shape", until=14)
def shape_14(node: Node, write: NodeWriter) -> None:
    """A part of the shape is cut out of all of it."""
    op, (x,) = node.op, node.inputs
    assert isinstance(op, Shape)
    require_element_type(x, op.name, write)
    (result,) = write.outputs(node)
    if op == Shape():
        return write.node("Shape", [write.name(x)], [result], name=node.name)
    write.node("Shape", [write.name(x)], [whole := write.fresh("shape")], name=node.name)
    ends = op.start, np.iinfo(np.int64).max if op.end is None else op.end
    if write.opset < 10:
        return write.node("Slice", [whole], [result], starts=ends[:1], ends=ends[1:], axes=(0,))
    write.node("Slice", [whole, *(write.constant(np.array([end], np.int64), "end") for end in ends)], [result])
