"""If-conversion: an If as both of its branches, and a selection between what they give."""

from __future__ import annotations

from whorl.ir import dims
from whorl.ir.build import Builder
from whorl.ir.graph import Node, Value
from whorl.ir.types import AnyShape, TensorType
from whorl.ops.elementwise.comparison import Where
from whorl.ops.movement.axes import Concat, Slice
from whorl.ops.movement.shapes import Reshape, Shape
from whorl.passes.inline import inline
from whorl.passes.rules.conditions import same_type
from whorl.passes.rules.pattern import tensor_type
from whorl.passes.unroll.clamping import speculatable
from whorl.passes.unroll.legality import require_same_type


def if_convert(node: Node, build: Builder) -> list[Value]:
    """The outputs of an If without the If.

    Errors: CannotUnroll where a branch could fail, or their types differ in more than the length of one axis; where
    lengths decide the branch, in that too, since a length that is fixed decides it for good.
    """
    condition, *captured = (value for value in node.inputs if value is not None)
    regions = [speculatable(region, build.inference) for region in node.regions]
    then, other = (inline(region, captured, build) for region in regions)
    axes = [_differing_axis(a, b) if condition.known is None else None for a, b in zip(then, other, strict=True)]
    for k, (a, b, axis) in enumerate(zip(then, other, axes, strict=True)):
        if axis is None:
            require_same_type(a, b, f"output {k}")
    if tensor_type(condition).shape != ():
        condition = build.add(Reshape(), condition, build.int64(), name=condition.name)
    outputs = zip(then, other, axes, (value.name for value in node.outputs), strict=True)
    return [_select(condition, a, b, axis, name, build) for a, b, axis, name in outputs]


def _differing_axis(a: Value, b: Value) -> int | None:
    """The only axis along which two tensors may differ in length; None where there is not one."""
    x, y = a.type, b.type
    if not isinstance(x, TensorType) or not isinstance(y, TensorType) or x.dtype != y.dtype:
        return None
    if isinstance(x.shape, AnyShape) or isinstance(y.shape, AnyShape) or len(x.shape) != len(y.shape):
        return None
    axes = [axis for axis, (m, n) in enumerate(zip(x.shape, y.shape, strict=True)) if not dims.equal(m, n)]
    return axes[0] if len(axes) == 1 else None


def _select(condition: Value, a: Value, b: Value, axis: int | None, name: str, build: Builder) -> Value:
    """One of two tensors: of those that differ along an axis, a part of both in a row."""
    if a is b:
        return a
    if axis is None or same_type(a.type, b.type):
        return build.add(Where(), condition, a, b, name=name)
    both = build.add(Concat(axis), a, b, name=name)
    length, total = (build.add(Shape(axis, axis + 1), value, name="length") for value in (a, both))
    start = build.add(Where(), condition, build.int64(0), length, name="start")
    end = build.add(Where(), condition, length, total, name="end")
    return build.add(Slice(), both, start, end, build.int64(axis), name=name)
