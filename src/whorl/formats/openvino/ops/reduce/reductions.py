"""Reductions along axes, and totals that run along one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from whorl.formats.openvino.ops.layers import SHORT, axes_of, converted, number, types_of
from whorl.formats.openvino.ops.movement.run_time_axes import without_axes_at_run_time
from whorl.formats.openvino.ops.nodes import cast, emit, listed, number_of, one
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.formats.openvino.writing.exporter import LayerWriter, Source, exporter
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, INT32, is_float, is_integer
from whorl.ir.graph import Node, Value
from whorl.ir.types import TensorType, tensor
from whorl.ops.core.base import known_length
from whorl.ops.elementwise.arithmetic import Abs, Add, Identity, Mul, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import IsInf, Where
from whorl.ops.elementwise.functions import Exp, Log
from whorl.ops.reduce.cumulative import CumSum
from whorl.ops.reduce.logarithmic_reductions import ReduceLogSum, ReduceLogSumExp
from whorl.ops.reduce.reductions import (
    ReduceL1,
    ReduceL2,
    ReduceMax,
    ReduceMean,
    ReduceMin,
    ReduceProd,
    ReduceSum,
    ReduceSumSquare,
    Reduction,
)

KINDS: dict[str, type[Reduction]] = {
    "ReduceMax": ReduceMax,
    "ReduceMean": ReduceMean,
    "ReduceMin": ReduceMin,
    "ReduceProd": ReduceProd,
    "ReduceSum": ReduceSum,
}


def _is_short(dtype: np.dtype) -> bool:
    return is_integer(dtype) and dtype.itemsize < INT32.itemsize


def _reduction(kind: type[Reduction]) -> Callable[[IrNode, Builder], list[Value]]:
    """Of no axes it is the input. Integers of types that ONNX does not add are added in int32."""

    def read(node: IrNode, build: Builder) -> list[Value]:
        op = kind(keepdims=int(node.flag("keep_dims", False)), noop_with_empty_axes=1)
        x, axes = node.required(0), listed(build, node.required(1))
        dtype = tensor(x).dtype
        if not _is_short(dtype) or (kind in (ReduceMax, ReduceMin) and dtype.itemsize == 1):
            return emit(node, build, op, x, axes)
        return emit(node, build, Cast(dtype), build.add(op, cast(build, x, INT32), axes))

    return read


for _name, _kind in KINDS.items():
    importer(_name, 1)(_reduction(_kind))
importer("ReduceL1", 4)(_reduction(ReduceL1))
importer("ReduceL2", 4)(_reduction(ReduceL2))
importer("ReduceLogicalAnd", 1)(_reduction(ReduceMin))
importer("ReduceLogicalOr", 1)(_reduction(ReduceMax))


@importer("CumSum", 3)
def cum_sum_3(node: IrNode, build: Builder) -> list[Value]:
    """The axis is 0 where it is left out."""
    x, axis = node.required(0), node.input(1)
    op = CumSum(int(node.flag("exclusive", False)), int(node.flag("reverse", False)))
    place = build.int64(0) if axis is None else one(build, listed(build, axis))
    if _is_short(tensor(x).dtype):
        return emit(node, build, Cast(tensor(x).dtype), build.add(op, cast(build, x, INT32), place))
    return emit(node, build, op, x, place)


_OF_BOOLS = {"ReduceMax": "ReduceLogicalOr", "ReduceMin": "ReduceLogicalAnd"}
_EXTREMES = ("ReduceMax", "ReduceMin")
_SINCE = {"ReduceL1": 4, "ReduceL2": 4}


@exporter("ReduceL1")
@exporter("ReduceL2")
@exporter("ReduceMax")
@exporter("ReduceMean")
@exporter("ReduceMin")
@exporter("ReduceProd")
@exporter("ReduceSum")
def write_reduction(node: Node, write: LayerWriter) -> list[Source]:
    """Axes are always listed; what is left of no elements is known.

    OpenVINO looks for extremes from the largest finite number on; of the halves of the elements, an infinity is found.
    """
    op, data, axes = _parts(node)
    if (result := _of_nothing(node, write)) is not None:
        return [result]
    if _has_no_axes(op, data, axes):
        return write.through(node, lambda build, x, *_: _of_no_axes(op, build, x))
    if axes is None or known_length(axes) == 0:
        return write.through(node, lambda build, x, *_: build.add(op, x, axes_of(build, x)))
    rank, left = tensor(data).rank, tensor(node.outputs[0]).rank
    fixed = write.constant_value(axes) is not None
    if not fixed and not op.keepdims and rank is not None and left is not None:
        return write.through(node, lambda build, x, going: _reduced_at_run_time(op, build, x, going, rank, left))
    x, (result_type,), name = write.source(data), types_of(node.outputs), op.name
    if tensor(data).dtype == BOOL and fixed:
        name = _OF_BOOLS[name]
    elif tensor(data).dtype == BOOL or tensor(data).dtype in SHORT:
        x = converted(write, x, INT32)
    doubles = op.name in _EXTREMES and is_float(x.type.dtype) and not _is_halved(data)
    if doubles:
        x = _scaled(write, x, 0.5)
    type = result_type.with_dtype(x.type.dtype)
    (reduced,) = write.layer(name, _SINCE.get(name, 1), [x, write.source(axes)], [type], keep_dims=bool(op.keepdims))
    if doubles:
        reduced = _scaled(write, reduced, 2.0)
    return [converted(write, reduced, result_type.dtype)]


def _scaled(write: LayerWriter, x: Source, factor: float) -> Source:
    number = write.constant(np.array(factor).astype(x.type.dtype))
    return write.layer("Multiply", 1, [x, number], [x.type], auto_broadcast="numpy")[0]


def _is_halved(data: Value) -> bool:
    """Whether these are the halves that an earlier writing made."""
    owner = data.owner
    return isinstance(owner, Node) and isinstance(owner.op, Mul) and any(number_of(x) == 0.5 for x in owner.inputs)


def _reduced_at_run_time(op: Reduction, build: Builder, x: Value, axes: Value, rank: int, left: int) -> Value:
    reduced = build.add(replace(op, keepdims=1), x, axes)
    return without_axes_at_run_time(build, reduced, axes, rank, left)


def _parts(node: Node) -> tuple[Reduction, Value, Value | None]:
    op, data = node.op, node.inputs[0]
    assert isinstance(op, Reduction) and data is not None
    return op, data, node.inputs[1] if len(node.inputs) > 1 else None


def _has_no_axes(op: Reduction, data: Value, axes: Value | None) -> bool:
    return tensor(data).rank == 0 or (bool(op.noop_with_empty_axes) and (axes is None or known_length(axes) == 0))


def _of_no_axes(op: Reduction, build: Builder, x: Value) -> Value:
    """What a reduction of each single element gives."""
    match op:
        case ReduceL1() | ReduceL2():
            return build.add(Abs(), x)
        case ReduceSumSquare():
            return build.add(Mul(), x, x)
        case ReduceLogSum():
            return build.add(Log(), x)
    return build.add(Identity(), x)


def _of_nothing(node: Node, write: LayerWriter) -> Source | None:
    """The result of a tensor without elements, where its shape and the axes are known."""
    op, data, axes = _parts(node)
    shape, listed = _fixed_shape(tensor(data)), write.constant_value(axes)
    if shape is None or 0 not in shape or (axes is not None and listed is None and known_length(axes) != 0):
        return None
    with np.errstate(all="ignore"):
        return write.constant(op.run(np.zeros(shape, tensor(data).dtype), listed))


def _fixed_shape(type: TensorType) -> tuple[int, ...] | None:
    if not isinstance(type.shape, tuple):
        return None
    fixed = tuple(dim for dim in type.shape if isinstance(dim, int))
    return fixed if len(fixed) == len(type.shape) else None


@exporter("ReduceLogSum")
@exporter("ReduceLogSumExp")
@exporter("ReduceSumSquare")
def write_composed(node: Node, write: LayerWriter) -> list[Source]:
    """Through other reductions."""
    op, data, axes = _parts(node)
    if (result := _of_nothing(node, write)) is not None:
        return [result]
    if _has_no_axes(op, data, axes):
        return write.through(node, lambda build, x, *_: _of_no_axes(op, build, x))
    return write.through(node, lambda build, x, *rest: _composed(op, build, x, rest[0] if rest else None))


def _composed(op: Reduction, build: Builder, x: Value, axes: Value | None) -> Value:
    total = ReduceSum(op.keepdims, op.noop_with_empty_axes)
    match op:
        case ReduceSumSquare():
            return build.add(total, build.add(Mul(), x, x), axes)
        case ReduceLogSum():
            return build.add(Log(), build.add(total, x, axes))
    assert isinstance(op, ReduceLogSumExp)
    shifts = [_finite(build, build.add(ReduceMax(keep, op.noop_with_empty_axes), x, axes)) for keep in (1, op.keepdims)]
    powers = build.add(Exp(), build.add(Sub(), x, shifts[0]))
    return build.add(Add(), build.add(Log(), build.add(total, powers, axes)), shifts[1])


def _finite(build: Builder, x: Value) -> Value:
    """The numbers, 0 in the place of infinities."""
    return build.add(Where(), build.add(IsInf(), x), number(build, x, 0), x)
