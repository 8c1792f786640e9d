"""Recurrent layers in the place of loops: RNN, GRU and LSTM over all iterations, with what the loop gives of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from whorl.ir.dtypes import INT32, INT64
from whorl.ir.graph import Value
from whorl.ops.elementwise.arithmetic import Max, Min, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import Greater, Where
from whorl.ops.movement.axes import Concat, Slice
from whorl.ops.movement.padding import Pad
from whorl.ops.movement.shapes import Expand, Reshape, Shape, Unsqueeze
from whorl.ops.recurrent.rnn import Recurrent
from whorl.passes.vectorize.batched import Batched
from whorl.passes.vectorize.stacks import Stacks, is_at_least


class Mask(Struct, frozen=True):
    """Which rows of a batch go on: those whose length is above the iteration number."""

    condition: Value
    """In the body."""
    lengths: Value
    """One for each row, or one for all."""
    goes_on: bool
    """Whether rows go on where the condition holds; else where it does not."""


class Layer(Struct, frozen=True):
    """A recurrent op over all iterations. `states`: the carried values that are its states, h first."""

    op: Recurrent
    inputs: Value
    """[iterations, batch, input]"""
    weights: Sequence[Value]
    """W, R and B."""
    states: Sequence[int]
    mask: Mask | None = None


class Run(Struct, frozen=True):
    """What a layer gives: h after each iteration where the row goes on, and the last value of each state."""

    rows: Value
    last: Sequence[Value]


def run_layer(layer: Layer, stacks: Stacks, firsts: Sequence[Value]) -> Run:
    """Add the op. Where there may be no iteration or no row of a batch it gets one: engines divide by their number."""
    build, first = stacks.build, firsts[0]
    is_vector = Batched(first, is_mapped=False).rank == 1
    batch = build.int64(1) if is_vector else build.add(Shape(0, 1), first, name="batch")
    is_some = stacks.is_some, is_vector or is_at_least(batch, 1)
    starts = [_start(stacks, x, is_vector, is_some[1]) for x in firsts]
    lengths = None if layer.mask is None and stacks.is_some else _lengths(layer, stacks, batch, is_some[1])
    rows = _filled(stacks, layer.inputs, (not is_some[0], not is_some[1], False))
    operands = [rows, *layer.weights, lengths, *starts]
    values, *last = build.add_many(layer.op, operands, ["rows", *("last" for _ in firsts)])
    shape = build.add(Shape(), first, name="shape")
    whole = build.add(Concat(0), stacks.count, shape, name="shape")
    if not all(is_some):
        ends = build.add(Concat(0), stacks.count, batch, name="ends")
        values = build.add(Slice(), values, build.int64(0, 0), ends, build.int64(0, 2), name="rows")
        last = [build.add(Slice(), value, build.int64(0), batch, build.int64(1), name="last") for value in last]
    values = build.add(Reshape(allowzero=1), values, whole, name="rows")
    last = [build.add(Reshape(allowzero=1), value, shape, name="last") for value in last]
    if lengths is None:
        return Run(values, last)
    ran = build.add(Greater(), lengths, build.constant(np.array(0, INT32)), name="ran")
    if not is_vector:
        ran = build.add(Reshape(), build.add(Slice(), ran, build.int64(0), batch, name="ran"), build.int64(-1, 1))
    pairs = zip(last, firsts, strict=True)
    return Run(values, [build.add(Where(), ran, end, start, name="last") for end, start in pairs])


def _start(stacks: Stacks, first: Value, is_vector: bool, is_some: bool) -> Value:
    """A state before the loop as [1, batch, hidden]."""
    build = stacks.build
    if is_vector:
        return build.add(Reshape(), first, build.int64(1, 1, -1), name=first.name)
    return _filled(stacks, build.add(Unsqueeze(), first, build.int64(0), name=first.name), (False, not is_some, False))


def _filled(stacks: Stacks, value: Value, is_open: Sequence[bool]) -> Value:
    """A value with one row of zeros along each axis that may have none, where it has none."""
    if not any(is_open):
        return value
    build, zeros = stacks.build, stacks.build.int64(*(0 for _ in is_open))
    missing = build.add(Sub(), build.int64(*map(int, is_open)), build.add(Shape(), value, name="shape"), name="missing")
    behind = build.add(Max(), missing, build.constant(np.array(0, np.int64)), name="missing")
    return build.add(Pad(), value, build.add(Concat(0), zeros, behind, name="pads"), name=value.name)


def _lengths(layer: Layer, stacks: Stacks, batch: Value, is_some: bool) -> Value:
    """The number of iterations of each row, a vector of int32."""
    build, lengths = stacks.build, stacks.count
    if layer.mask is not None:
        flat = build.add(Reshape(), layer.mask.lengths, build.int64(-1), name="lengths")
        least = build.add(Min(), build.add(Cast(INT64), flat, name="lengths"), lengths, name="lengths")
        lengths = build.add(Max(), least, build.constant(np.array(0, np.int64)), name="lengths")
    each = build.add(Expand(), build.add(Cast(INT32), lengths, name="lengths"), batch, name="lengths")
    return _filled(stacks, each, (not is_some,))
