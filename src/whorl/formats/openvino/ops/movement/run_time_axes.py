"""Axes that only a run knows: OpenVINO needs every rank, so the shape is computed, a row of known length."""

from __future__ import annotations

import numpy as np

from whorl.formats.openvino.ops.nodes import whole
from whorl.ir.build import Builder
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Value
from whorl.ir.types import tensor
from whorl.ops.elementwise.arithmetic import Add, Max, Mod, Mul, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import Equal, Where
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.selection import TopK
from whorl.ops.movement.shapes import Reshape, Shape, Unsqueeze
from whorl.ops.reduce.cumulative import CumSum
from whorl.ops.reduce.reductions import ReduceMax


def _axis_numbers(rank: int) -> np.ndarray:
    return np.arange(rank, dtype=np.int64)


def _marked(build: Builder, axes: Value, rank: int) -> Value:
    """1 for each axis that is listed, 0 for each other one."""
    listed = build.add(Mod(), build.add(Cast(INT64), axes), whole(build, rank))
    matches = build.add(
        Equal(), build.constant(_axis_numbers(rank)[:, None]), build.add(Unsqueeze(), listed, build.int64(0))
    )
    return build.add(ReduceMax(keepdims=0), build.add(Cast(INT64), matches), build.int64(1))


def without_axes_at_run_time(build: Builder, x: Value, axes: Value, rank: int, left: int) -> Value:
    """x, of that rank, without listed axes of length 1: the `left` other ones in their order."""
    behind = build.add(Mul(), _marked(build, axes, rank), whole(build, rank))
    keys = build.add(Add(), behind, build.constant(_axis_numbers(rank)))
    remaining = build.add(TopK(largest=0), keys, build.int64(left))
    return build.add(Reshape(allowzero=1), x, build.add(Gather(), build.add(Shape(), x), remaining))


def with_axes_at_run_time(build: Builder, x: Value, axes: Value, rank: int) -> Value:
    """x with axes of length 1 at the listed indices of a result of that rank."""
    if tensor(x).rank == 0:
        return build.add(Reshape(), x, build.int64(*(1,) * rank))
    new = _marked(build, axes, rank)
    old = build.add(Sub(), whole(build, 1), new)
    position = build.add(Sub(), build.add(CumSum(), old, whole(build, 0)), whole(build, 1))
    lengths = build.add(Gather(), build.add(Shape(), x), build.add(Max(), position, whole(build, 0)))
    shape = build.add(Where(), build.add(Equal(), new, whole(build, 1)), whole(build, 1), lengths)
    return build.add(Reshape(allowzero=1), x, shape)
