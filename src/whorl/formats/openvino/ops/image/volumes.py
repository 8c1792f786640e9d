"""Volumes sampled at the points of a grid, written as sums of gathered elements."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from whorl.errors import SaveError
from whorl.ir.build import Builder
from whorl.ir.dtypes import FLOAT32, INT64
from whorl.ir.graph import Value
from whorl.ir.types import tensor
from whorl.ops.core.base import accumulator
from whorl.ops.core.writer import Writer
from whorl.ops.elementwise.arithmetic import Abs, Clip, Div, Floor, Min, Round
from whorl.ops.elementwise.comparison import GreaterOrEqual, Less, LessOrEqual, Where
from whorl.ops.elementwise.logic import And
from whorl.ops.image.sampling import GridSample
from whorl.ops.movement.axes import Concat
from whorl.ops.movement.indexing import Gather, GatherElements
from whorl.ops.movement.shapes import Expand, Reshape, Shape, Unsqueeze

Tap = tuple[Value, Value, Value]
"""Elements along an axis inside it, their weights, and whether they were inside, all [N, points]."""


def sampled_volume(op: GridSample, build: Builder, x: Value, grid: Value, rank: int) -> Value:
    """GridSample of X [N, C, axes...] with any number of axes, by the nearest elements or linearly."""
    if op.mode == "cubic":
        raise SaveError("samples volumes by cubic curves", fix="mode linear")
    return _Volume(op, build, x).sampled(grid, rank)


class _Volume:
    def __init__(self, op: GridSample, build: Builder, x: Value) -> None:
        self.op, self.build, self.write, self.x = op, build, Writer(build), x
        self.dtype = accumulator(tensor(x).dtype)

    def number(self, value: float) -> Value:
        return self.write.number(value, FLOAT32)

    def sampled(self, grid: Value, rank: int) -> Value:
        build, shape = self.build, self.build.add(Shape(), self.x)
        coordinates = self.write.cast(build.add(Reshape(), grid, build.int64(0, -1, rank)), FLOAT32)
        axes: list[tuple[Value, list[Tap]]] = []
        for k in range(rank):
            length = self.write.cast(build.add(Gather(0), shape, self._whole(2 + k)), FLOAT32)
            coordinate = build.add(Gather(2), coordinates, self._whole(rank - 1 - k))
            axes.append((length, self._taps(coordinate, length)))
        lead = build.add(Shape(end=2), self.x)
        flat = build.add(Reshape(), self.write.cast(self.x, self.dtype), build.int64(0, 0, -1))
        count = build.add(Shape(start=1, end=2), coordinates)
        target = build.add_many(Concat(0), [lead, count], ["target"])[0]
        total: Value | None = None
        for crossing in itertools.product(*(taps for _, taps in axes)):
            part = self._crossing(flat, target, [length for length, _ in axes], crossing)
            total = part if total is None else self.write.add(total, part)
        assert total is not None
        result = build.add_many(Concat(0), [lead, build.add(Shape(start=1, end=-1), grid)], ["result"])[0]
        return build.add(Reshape(), self.write.cast(total, tensor(self.x).dtype), result)

    def _whole(self, number: int) -> Value:
        return self.build.constant(np.array(number, np.int64))

    def _taps(self, coordinate: Value, length: Value) -> list[Tap]:
        write, one, half = self.write, self.number(1), self.number(0.5)
        if self.op.align_corners:
            low, high = self.number(0), write.sub(length, one)
            coordinate = write.mul(write.mul(write.add(coordinate, one), half), high)
        else:
            low, high = self.number(-0.5), write.sub(length, half)
            coordinate = write.mul(write.sub(write.mul(write.add(coordinate, one), length), one), half)
        if self.op.mode == "nearest":
            element = self._thrown_back(self.build.add(Round(), coordinate), low, high)
            return [self._tap(element, None, length, low, high)]
        coordinate = self._thrown_back(coordinate, low, high)
        first = self.build.add(Floor(), coordinate)
        return [self._tap(e, coordinate, length, low, high) for e in (first, write.add(first, one))]

    def _tap(self, element: Value, coordinate: Value | None, length: Value, low: Value, high: Value) -> Tap:
        write, one, zero = self.write, self.number(1), self.number(0)
        weight = one if coordinate is None else write.sub(one, self.build.add(Abs(), write.sub(element, coordinate)))
        above, below = self.build.add(GreaterOrEqual(), element, zero), self.build.add(Less(), element, length)
        inside = self.build.add(And(), above, below)
        element = self._thrown_back(element, low, high)
        return self.build.add(Clip(), element, zero, write.sub(length, one)), weight, inside

    def _thrown_back(self, coordinate: Value, low: Value, high: Value) -> Value:
        """The coordinate reflected at both ends until it is between them, where the mode demands that."""
        if self.op.padding_mode != "reflection":
            return coordinate
        write, width = self.write, self.write.sub(high, low)
        period = write.add(width, width)
        past = write.sub(coordinate, low)
        turn = write.sub(past, write.mul(self.build.add(Floor(), self.build.add(Div(), past, period)), period))
        near = self.build.add_many(Min(), [turn, write.sub(period, turn)], ["near"])[0]
        is_flat = self.build.add(LessOrEqual(), width, self.number(0))
        inside = self.build.add(
            And(), *(self.build.add(LessOrEqual(), a, b) for a, b in ((low, coordinate), (coordinate, high)))
        )
        back = self.build.add(Where(), is_flat, low, write.add(low, near))
        return self.build.add(Where(), inside, coordinate, back)

    def _crossing(self, flat: Value, target: Value, lengths: Sequence[Value], taps: Sequence[Tap]) -> Value:
        """The elements at one corner around every point, weighed; 0 outside in that mode."""
        write, (index, weight, inside) = self.write, taps[0]
        for length, (element, other, within) in zip(lengths[1:], taps[1:], strict=True):
            index = write.add(write.mul(index, length), element)
            weight, inside = write.mul(weight, other), self.build.add(And(), inside, within)
        rows = self.build.add(Unsqueeze(), write.cast(index, INT64), self.build.int64(1))
        values = self.build.add(GatherElements(2), flat, self.build.add(Expand(), rows, target))
        if self.op.padding_mode == "zeros":
            is_seen = self.build.add(Unsqueeze(), inside, self.build.int64(1))
            values = self.build.add(Where(), is_seen, values, write.number(0, self.dtype))
        if self.op.mode == "nearest":
            return values
        return write.mul(values, self.build.add(Unsqueeze(), write.cast(weight, self.dtype), self.build.int64(1)))
