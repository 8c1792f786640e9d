"""What may fail where it would not run is made total: indices are clamped, divisors that are 0 become 1.

Where the node would have run, its operands are as they were; elsewhere nothing selects what it gives. A tensor that may
have no element along the axis of an index gets one of zeros behind the others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.dims import Dim
from whorl.ir.dtypes import BOOL, INT64, is_float, is_integer
from whorl.ir.graph import Node, Region, Value
from whorl.ir.infer import Inference
from whorl.ir.rewrite import rewrite
from whorl.ir.types import AnyShape, TensorType
from whorl.ir.walk import clone_region
from whorl.ops.core.base import normal_axis
from whorl.ops.elementwise.arithmetic import Add, Div, Max, Min, Mod, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import Equal, Less, Where
from whorl.ops.movement.axes import Concat
from whorl.ops.movement.filling import ConstantOfShape
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.lengths import bounds
from whorl.ops.movement.shapes import Reshape, Shape
from whorl.passes.rules.pattern import tensor_type
from whorl.passes.unroll.legality import may_fail, require_speculatable


def speculatable(region: Region, inference: Inference) -> Region:
    """A copy of a region that may run where the region would not. Errors: CannotUnroll."""
    copy, total = clone_region(region), set[Node]()

    def visit(node: Node, build: Builder) -> Sequence[Value] | None:
        if not isinstance(node.op, Gather | Div | Mod) or not may_fail(node):
            return None
        operands = _total_operands(node, build)
        if operands is None:
            return None
        outputs = build.add_many(node.op, operands, [node.outputs[0].name], (), node.name)
        total.update(output.owner for output in outputs if isinstance(output.owner, Node))
        return outputs

    rewrite(copy, inference, visit)
    require_speculatable(copy, total)
    return copy


def _total_operands(node: Node, build: Builder) -> list[Value] | None:
    """The operands with which a node cannot fail; None where none are known."""
    a, b = (value for value in node.inputs if value is not None)
    if isinstance(node.op, Gather):
        return _clamped(a, b, node.op.axis, build)
    dtype = tensor_type(b).dtype
    if not is_integer(dtype) or tensor_type(a).shape != tensor_type(node.outputs[0]).shape:
        return None
    zero, one = (build.constant(np.array(number, dtype)) for number in (0, 1))
    return [a, build.add(Where(), build.add(Equal(), b, zero, name="is_zero"), one, b, name=b.name)]


def _clamped(x: Value, indices: Value, axis: int, build: Builder) -> list[Value] | None:
    """A tensor, and indices along an axis that it surely has."""
    type = x.type
    if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape) or not type.shape:
        return None
    if not (is_float(type.dtype) or is_integer(type.dtype) or type.dtype == BOOL):
        return None
    axis = normal_axis(axis, len(type.shape))
    if tensor_type(indices).dtype != INT64:
        indices = build.add(Cast(INT64), indices, name=indices.name)
    zero = build.constant(np.array(0, INT64))
    length = build.add(Reshape(), build.add(Shape(axis, axis + 1), x, name="length"), build.int64(), name="length")
    is_negative = build.add(Less(), indices, zero, name="is_negative")
    from_end = build.add(Add(), indices, length, name=indices.name)
    indices = build.add(Where(), is_negative, from_end, indices, name=indices.name)
    if _is_never_empty(type.shape[axis]):
        last = build.add(Sub(), length, build.constant(np.array(1, INT64)), name="last")
    else:
        x, last = _with_zeros(x, axis, build), length
    clamped = build.add(Max(), build.add(Min(), indices, last, name=indices.name), zero, name=indices.name)
    return [x, clamped]


def _is_never_empty(length: Dim) -> bool:
    return length >= 1 if isinstance(length, int) else bounds(length)[0] >= 1


def _with_zeros(x: Value, axis: int, build: Builder) -> Value:
    """The tensor with one more element along an axis."""
    before, after = build.add(Shape(0, axis), x, name="shape"), build.add(Shape(axis + 1), x, name="shape")
    shape = build.add(Concat(0), before, build.int64(1), after, name="shape")
    zeros = build.add(ConstantOfShape(np.zeros(1, tensor_type(x).dtype)), shape, name="zeros")
    return build.add(Concat(axis), x, zeros, name=x.name)
