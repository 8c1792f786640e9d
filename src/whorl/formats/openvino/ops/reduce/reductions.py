"""Reductions along axes."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec.structs import replace

from whorl.formats.openvino.ops.movement.run_time_axes import without_axes_at_run_time
from whorl.formats.openvino.ops.nodes import axes_of, cast, emit, like, listed, number_of
from whorl.formats.openvino.ops.rows import Row
from whorl.formats.openvino.reading.importer import IrNode
from whorl.formats.openvino.writing.exporter import exporter
from whorl.formats.openvino.writing.layers import SHORT, combine, convert, scalar, types_of
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sources import Source
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, INT32, is_float, is_integer
from whorl.ir.graph import Node, Value
from whorl.ir.types import TensorType, tensor
from whorl.ops.core.base import known_length
from whorl.ops.elementwise.arithmetic import Abs, Add, Identity, Mul, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import IsInf, Where
from whorl.ops.elementwise.functions import Exp, Log
from whorl.ops.reduce.logarithmic_reductions import ReduceLogSum, ReduceLogSumExp
from whorl.ops.reduce.reductions import (
    ReduceL1,
    ReduceL2,
    ReduceMax,
    ReduceMin,
    ReduceSum,
    ReduceSumSquare,
    Reduction,
)

_OF_BOOLS = {ReduceMax: "ReduceLogicalOr", ReduceMin: "ReduceLogicalAnd"}


def is_short(dtype: np.dtype) -> bool:
    """Whether ONNX does not add integers of a type."""
    return is_integer(dtype) and dtype.itemsize < INT32.itemsize


def read_reduction(node: IrNode, build: Builder, op: Reduction) -> list[Value]:
    """Of no axes it is the input. Integers of types that ONNX does not add are added in int32."""
    op, x, axes = replace(op, noop_with_empty_axes=1), node.required(0), listed(build, node.required(1))
    dtype = tensor(x).dtype
    if not is_short(dtype) or (type(op) in _OF_BOOLS and dtype.itemsize == 1):
        return emit(node, build, op, x, axes)
    return emit(node, build, Cast(dtype), build.add(op, cast(build, x, INT32), axes))


def write_reduction(op: Reduction, node: Node, write: NetWriter, row: Row[Any]) -> list[Source]:
    """Axes are always listed; the result of no elements is known.

    OpenVINO starts its search for extremes from the largest finite number, so that it misses infinities; it finds
    those of the halves of the elements.
    """
    data, axes = _inputs(node)
    if (result := _of_nothing(op, node, write)) is not None:
        return [result]
    if _has_no_axes(op, data, axes):
        return write.through(node, lambda build, x, *_: _of_no_axes(op, build, x))
    if axes is None or known_length(axes) == 0:
        return write.through(node, lambda build, x, *_: build.add(op, x, axes_of(build, x)))
    rank, left = tensor(data).rank, tensor(node.outputs[0]).rank
    is_fixed = write.constant_value(axes) is not None
    if not is_fixed and not op.keepdims and rank is not None and left is not None:
        return write.through(node, lambda build, x, going: _reduced_at_run_time(op, build, x, going, rank, left))
    x, (result_type,), dtype = write.source(data), types_of(node.outputs), tensor(data).dtype
    if dtype == BOOL and is_fixed:
        row = replace(row, type=_OF_BOOLS[type(op)])
    elif dtype == BOOL or dtype in SHORT:
        x = convert(write, x, INT32)
    halves = type(op) in _OF_BOOLS and is_float(dtype) and not _is_halved(data)
    if halves:
        x = combine(write, "Multiply", x, scalar(write, 0.5, dtype))
    (reduced,) = row.layer(op, node, write, [x, write.source(axes)], [result_type.with_dtype(x.type.dtype)])
    if halves:
        reduced = combine(write, "Multiply", reduced, scalar(write, 2.0, dtype))
    return [convert(write, reduced, result_type.dtype)]


def _is_halved(data: Value) -> bool:
    """Whether these are the halves that an earlier writing made."""
    owner = data.owner
    return isinstance(owner, Node) and isinstance(owner.op, Mul) and any(number_of(x) == 0.5 for x in owner.inputs)


def _reduced_at_run_time(op: Reduction, build: Builder, x: Value, axes: Value, rank: int, left: int) -> Value:
    reduced = build.add(replace(op, keepdims=1), x, axes)
    return without_axes_at_run_time(build, reduced, axes, rank, left)


def _inputs(node: Node) -> tuple[Value, Value | None]:
    data, axes = (*node.inputs, None)[:2]
    assert data is not None
    return data, axes


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
        case _:
            pass
    return build.add(Identity(), x)


def _of_nothing(op: Reduction, node: Node, write: NetWriter) -> Source | None:
    """The result of a tensor without elements, where its shape and the axes are known."""
    data, axes = _inputs(node)
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


@exporter(ReduceLogSum, ReduceLogSumExp, ReduceSumSquare)
def write_composed(op: ReduceLogSum | ReduceLogSumExp | ReduceSumSquare, node: Node, write: NetWriter) -> list[Source]:
    """Through other reductions."""
    data, axes = _inputs(node)
    if (result := _of_nothing(op, node, write)) is not None:
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
        case _:
            pass
    assert isinstance(op, ReduceLogSumExp)
    shifts = [_finite(build, build.add(ReduceMax(keep, op.noop_with_empty_axes), x, axes)) for keep in (1, op.keepdims)]
    powers = build.add(Exp(), build.add(Sub(), x, shifts[0]))
    return build.add(Add(), build.add(Log(), build.add(total, powers, axes)), shifts[1])


def _finite(build: Builder, x: Value) -> Value:
    """The numbers, 0 instead of infinities."""
    return build.add(Where(), build.add(IsInf(), x), like(build, x, 0), x)
