"""Pooling in LLVM IR."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from whorl.kernels.depthwise.plane import Plane, Taps, axes_of, rows_or_channels, shape_name
from whorl.kernels.kernel import Dtypes, Numbers
from whorl.kernels.pooling.meaning import NUMBERS
from whorl.llvm.module import Module
from whorl.llvm.routine import Routine
from whorl.llvm.value import Index, Value
from whorl.llvm.vectors import Vectors, vectors_of


def define_window_maxima(module: Module, dtypes: Dtypes, numbers: Numbers) -> str:
    return _define(module, dtypes, numbers, "maxima")


def define_window_sums(module: Module, dtypes: Dtypes, numbers: Numbers) -> str:
    return _define(module, dtypes, numbers, "sums")


def _define(module: Module, dtypes: Dtypes, numbers: Numbers, kind: str) -> str:
    """for channels: for some rows: for vectors of windows: for rows of the image: for taps: the larger one, or a sum"""
    v, (rows, columns) = vectors_of(dtypes[0], module.machine), axes_of(numbers[1:])
    name = f"@whorl.window_{kind}.{v.suffix}.{shape_name(rows, columns)}"
    if name in module:
        return name
    f = Routine(module, name, ["_y", "x"], NUMBERS, polls=True, divides=True)
    (begin, end), (first_row, end_row) = rows_or_channels(f)
    with f.loop(begin, end) as c:
        windows = Maxima(f, v, c) if kind == "maxima" else Sums(f, v, c)
        taps = Taps(windows.rest, windows.begin, windows.add, windows.store)
        Plane(f, v, rows, columns, c, True, taps).go_over(first_row, end_row)
    f.end()
    return name


class Sums(Struct, frozen=True):
    """The sums of the windows of a channel."""

    f: Routine
    v: Vectors
    channel: Index

    @property
    def rest(self) -> Value:
        return self.v.constant(self.f, 0.0)

    def begin(self) -> Sequence[Value]:
        return [self.f.variable(self.rest)]

    def add(self, totals: Sequence[Value], i: int, elements: Sequence[Value]) -> None:
        f, v, (total, *_) = self.f, self.v, totals
        for x in elements:
            f.store(f.load(v.type, total) + x, total)

    def result(self, totals: Sequence[Value]) -> Value:
        return self.f.load(self.v.type, totals[0])

    def store(self, totals: Sequence[Value], row: Index, column: Index) -> None:
        f, v = self.f, self.v
        row_count, column_count = f.indices("row_count", "column_count")
        position = (self.channel * row_count + row) * column_count + column
        v.store_part(f, self.result(totals), v.offset(f, f["y"], position), column_count - column)


class Maxima(Sums, frozen=True):
    """The largest elements; which windows have NaN waits in a mask, and it is put in at the end."""

    @property
    def rest(self) -> Value:
        return self.v.constant(self.f, -math.inf)

    def begin(self) -> Sequence[Value]:
        return [self.f.variable(self.rest), self.f.variable(self.f.number(0, self.v.waiting_mask))]

    def add(self, totals: Sequence[Value], i: int, elements: Sequence[Value]) -> None:
        f, v, (largest, broken) = self.f, self.v, totals
        mask = f.load(v.waiting_mask, broken)
        for x in elements:
            f.store(v.larger(f, x, f.load(v.type, largest)), largest)
            mask = mask | v.wait(f, x.is_nan())
        f.store(mask, broken)

    def result(self, totals: Sequence[Value]) -> Value:
        f, v, (largest, broken) = self.f, self.v, totals
        is_broken = v.awaited(f, f.load(v.waiting_mask, broken))
        return f.select(is_broken, v.constant(f, math.nan), f.load(v.type, largest))
