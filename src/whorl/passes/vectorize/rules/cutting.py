"""Batching rules of ops that cut, repeat and pad: their axes are counted past that of the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL
from whorl.ir.graph import Op, Value
from whorl.ops.core.base import known_ints, known_length
from whorl.ops.elementwise.comparison import Where
from whorl.ops.movement.axes import Concat, Slice, Split, Tile
from whorl.ops.movement.filling import ConstantOfShape
from whorl.ops.movement.padding import CenterCropPad, Pad
from whorl.ops.movement.shapes import Reshape, Shape
from whorl.passes.vectorize.batched import Batched, CannotVectorize, Operands, align
from whorl.passes.vectorize.rules.folding import call, require_shared
from whorl.passes.vectorize.rules.rule import Rule
from whorl.passes.vectorize.rules.windows_of_slices import take_windows


def axes_past_rows(x: Batched, axes: Batched | None, count: int | None, what: str, build: Builder) -> Value:
    """The axes that an operand names, counted past that of the rows; all of the first `count` where it is left out."""
    numbers = range(count) if axes is None and count is not None else None
    if axes is not None and not axes.is_mapped:
        numbers = known_ints(axes.value)
    if numbers is None:
        raise CannotVectorize(f"the axes of a {what} are known only when it runs")
    return build.int64(*map(x.axis, numbers))


def batch_slice(op: Slice, operands: Operands, build: Builder) -> Sequence[Batched]:
    """Starts and ends that rows share; those that differ by row where all rows surely get as many elements."""
    x, starts, ends, axes, steps = (*operands, None, None)[:5]
    assert x is not None and starts is not None and ends is not None
    if starts.is_mapped or ends.is_mapped:
        return [take_windows(x, starts, ends, axes, steps, build)]
    named = axes_past_rows(x, axes, known_length(starts.value), "Slice", build)
    inputs = [x.value, starts.value, ends.value, named]
    if steps is not None:
        inputs.append(require_shared(steps, "the step of a Slice"))
    return [Batched(build.add(op, *inputs))]


def batch_split(op: Split, operands: Operands, build: Builder) -> Sequence[Batched]:
    x, *lengths = operands
    assert x is not None
    inputs = [require_shared(each, "the lengths of a Split") for each in lengths if each is not None]
    return [Batched(part) for part in call(replace(op, axis=x.axis(op.axis)), [x.value, *inputs], build)]


def batch_tile(op: Tile, operands: Operands, build: Builder) -> Sequence[Batched]:
    x, repeats = operands
    assert x is not None and repeats is not None
    times = build.add(Concat(0), build.int64(1), require_shared(repeats, "how often a Tile repeats"), name="repeats")
    return [Batched(build.add(op, x.value, times))]


def batch_pad(op: Pad, operands: Operands, build: Builder) -> Sequence[Batched]:
    """A value of each row is selected where a mask, padded alike, says that it is one."""
    x, pads, fill, axes = (*operands, None, None)[:4]
    assert x is not None and pads is not None
    ends = require_shared(pads, "the length of a Pad")
    named = axes_past_rows(x, axes, x.rank, "Pad", build)
    if fill is None or not fill.is_mapped:
        own = [Batched(x.value)] if x.is_mapped else [x]
        return [Batched(build.add(op, own[0].value, ends, None if fill is None else fill.value, named))]
    inside = _mask(op, x, ends, named, build)
    padded = build.add(op, x.value, ends, None, named)
    flat = Batched(build.add(Reshape(), fill.value, build.int64(-1), name="fill"))
    return [Batched(build.add(Where(), inside, padded, align(flat, x.rank, build), name="padded"))]


def _mask(op: Pad, x: Batched, ends: Value, named: Value, build: Builder) -> Value:
    """Where a padded tensor has elements of its own."""
    shape = build.add(Shape(), x.value, name="shape")
    own = build.add(ConstantOfShape(np.ones(1, BOOL)), shape, name="own")
    return build.add(op, own, ends, None, named, name="own")


def batch_center(op: CenterCropPad, operands: Operands, build: Builder) -> Sequence[Batched]:
    x, shape = operands
    assert x is not None and shape is not None
    axes = range(x.rank) if op.axes is None else op.axes
    lengths = require_shared(shape, "the shape of a CenterCropPad")
    return [Batched(build.add(replace(op, axes=tuple(map(x.axis, axes))), x.value, lengths))]


RULES: Mapping[type[Op], Rule] = {
    Slice: batch_slice,
    Split: batch_split,
    Tile: batch_tile,
    Pad: batch_pad,
    CenterCropPad: batch_center,
}
