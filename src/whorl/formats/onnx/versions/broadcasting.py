"""Operands of two-operand ops before opset 7: only the right one broadcasts, from an `axis` on, and only on request."""

from __future__ import annotations

import numpy as np

from whorl.errors import SaveError
from whorl.formats.onnx.exporting import NodeWriter
from whorl.formats.onnx.versions.limits import require_element_type
from whorl.ir import dims
from whorl.ir.build import Builder
from whorl.ir.dims import Dim
from whorl.ir.graph import Value
from whorl.ir.types import AnyShape, tensor
from whorl.ops.elementwise.arithmetic import Max, Sub
from whorl.ops.movement.axes import Concat
from whorl.ops.movement.filling import ConstantOfShape
from whorl.ops.movement.shapes import Reshape, Shape, Size

_MIRRORED = {"Greater": "Less", "Less": "Greater"} | {x: x for x in ("Add", "And", "Equal", "Mul", "Or", "Xor")}
"""What an op is called with its operands exchanged."""
_NUMPY_BROADCASTING = 7


def aligned(build: Builder, x: Value, y: Value, axis: int) -> Value:
    """`y` with as many axes of length 1 behind it as put its first axis under `axis` of `x`, whatever the ranks are."""
    shape = build.add(Shape(), y)
    behind = build.add(Sub(), build.int64(-axis), build.add(Size(), shape))
    if axis >= 0:
        rank = build.add(Size(), build.add(Shape(), x))
        behind = build.add(Sub(), build.add(Sub(), rank, build.int64(axis)), build.add(Size(), shape))
    count = build.add(Max(), behind, build.int64(0))
    ones = build.add(ConstantOfShape(np.ones(1, np.int64)), count)
    return build.add(Reshape(), y, build.add(Concat(0), shape, ones))


def write_operands(op_type: str, x: Value, y: Value, result: str, write: NodeWriter, name: str = "") -> None:
    """A node of two operands in the form of the target opset."""
    require_element_type(x, op_type, write)
    if write.opset >= _NUMPY_BROADCASTING or are_equal_shapes(x, y):
        return write.node(op_type, [write.name(x), write.name(y)], [result], name=name)
    for kind, left, right in ((op_type, x, y), (_MIRRORED.get(op_type), y, x)):
        match = kind and lying_under(left, right)
        if kind and match:
            axis, core = match
            inputs = [write.name(left), write.name(right)]
            if axis is not None:
                inputs[1] = reshaped(right, core, write)
            return write.node(kind, inputs, [result], name=name, broadcast=1, axis=axis)
    raise SaveError(f"{x.type} and {y.type} broadcast in a way of their own", fix="opset 7 or later can say it")


def are_equal_shapes(x: Value, y: Value) -> bool:
    """Whether two tensors are proved to have the same shape."""
    a, b = tensor(x).shape, tensor(y).shape
    if x is y or isinstance(a, AnyShape) or isinstance(b, AnyShape):
        return x is y
    return len(a) == len(b) and all(map(dims.equal, a, b))


def lying_under(x: Value, y: Value) -> tuple[int | None, tuple[Dim, ...]] | None:
    """The axis of `x` under which `y` begins without its outer axes of length 1, and what is left of its shape.

    The axis is None where `y` fits as it is: a single element, or equal to the last axes. None where it fits nowhere.
    """
    a, b = tensor(x).shape, tensor(y).shape
    if isinstance(a, AnyShape) or isinstance(b, AnyShape) or len(b) > len(a):
        return None
    wide = [k for k, dim in enumerate(b) if not dims.equal(dim, 1)]
    if not wide:
        return None, b
    core = b[wide[0] : wide[-1] + 1]
    axis = len(a) - len(b) + wide[0]
    if not all(map(dims.equal, core, a[axis : axis + len(core)])):
        return None
    return (None if len(core) == len(b) else axis), core


def reshaped(value: Value, shape: tuple[Dim, ...], write: NodeWriter) -> str:
    """A value in another shape with the same number of elements."""
    lengths = [dim if isinstance(dim, int) else -1 for dim in shape]
    if lengths.count(-1) > 1:
        raise SaveError(f"the lengths of {value!r} are not known", fix="opset 7 or later can say it")
    constant = write.constant_value(value)
    if constant is not None:
        return write.constant(constant.reshape(lengths), value.name)
    target = write.constant(np.array(lengths, np.int64), "shape")
    write.node("Reshape", [write.name(value), target], [result := write.fresh(value.name)])
    return result
