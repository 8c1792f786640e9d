"""Extremes so far in five steps whose reach multiplies by a factor: rows before rows by two-dimensional indices.

A step by `factor` gives each row the extreme of `factor` rows that lie `reach` apart, and so of `factor * reach` rows.
The factor is the fifth root of the length, which takes the few ops of a short loop for short lengths, and rereads each
row no more than 5 * n**0.2 times for long ones. Rows before the first are the first: an extreme may meet a row twice.
"""

from __future__ import annotations

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.dtypes import FLOAT32, INT64
from whorl.ir.graph import Value
from whorl.ops.elementwise.arithmetic import Add, Max, Mul, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.powers import Pow
from whorl.ops.movement.filling import Range
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.shapes import Reshape, Shape, Unsqueeze
from whorl.ops.reduce.reductions import ReduceMax, ReduceMin
from whorl.passes.vectorize.batched import lengths_of

STEPS = 5
"""Steps for rows whose number only the run knows."""
LARGEST = 32
"""The largest factor for a number that is known: as many steps as it takes."""
MARGIN = 1.0001
"""What a root in float32 is multiplied by, so that no rounding makes its factor too small."""


def extremes_so_far(build: Builder, rows: Value, op: ReduceMax | ReduceMin) -> Value:
    """What an extreme comes to of each row and all before it, for one row or more. Errors: as `lengths_of`."""
    count = lengths_of(rows)[0]
    length = build.add(Shape(0, 1), rows, name="rows")
    zero, one = (build.constant(np.array(number, INT64)) for number in (0, 1))
    numbers = build.add(Range(), zero, build.add(Reshape(), length, build.int64(), name="rows"), one, name="row")
    column = build.add(Unsqueeze(), numbers, build.int64(1), name="row")
    steps = _steps(count) if isinstance(count, int) else STEPS
    factor = _known_factor(build, count, steps) if isinstance(count, int) else _factor(build, length)
    distances = build.add(Range(), zero, factor, one, name="distance")
    for step in range(steps):
        if step:
            distances = build.add(Mul(), distances, factor, name="distance")
        indices = build.add(Max(), build.add(Sub(), column, distances, name="before"), zero, name="before")
        rows = build.add(op, build.add(Gather(0), rows, indices, name=rows.name), build.int64(1), name=rows.name)
    return rows


def _steps(count: int) -> int:
    """The fewest steps by factors that are no larger than `LARGEST`."""
    return next(steps for steps in range(1, 64) if LARGEST**steps >= count)


def _known_factor(build: Builder, count: int, steps: int) -> Value:
    """The smallest factor that gets to all rows."""
    factor = next(number for number in range(1, LARGEST + 1) if number**steps >= count)
    return build.constant(np.array(factor, INT64))


def _factor(build: Builder, length: Value) -> Value:
    """A factor that gets to as many rows as a vector of one says."""
    exponent, margin = (build.constant(np.array(number, np.float32)) for number in (1 / STEPS, MARGIN))
    root = build.add(Pow(), build.add(Cast(FLOAT32), length, name="rows"), exponent, name="root")
    whole = build.add(Cast(INT64), build.add(Mul(), root, margin, name="root"), name="root")
    scalar = build.add(Reshape(), whole, build.int64(), name="root")
    return build.add(Add(), scalar, build.constant(np.array(1, INT64)), name="factor")
