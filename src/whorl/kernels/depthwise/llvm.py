"""Depthwise convolutions in LLVM IR."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from whorl.kernels.convolution.operands import load_limits, result_pointer
from whorl.kernels.depthwise.meaning import NUMBERS
from whorl.kernels.depthwise.plane import Plane, Taps, axes_of, rows_or_channels, shape_name
from whorl.kernels.kernel import Dtypes, Numbers
from whorl.llvm.module import Module
from whorl.llvm.routine import Routine
from whorl.llvm.value import Index, Value
from whorl.llvm.vectors import Vectors, add_product, vectors_of

FEW_TAPS = 9
"""Weights of a filter that have registers through all of its windows."""


def define_depthwise_convolution(module: Module, dtypes: Dtypes, numbers: Numbers) -> str:
    return _define(module, dtypes, numbers, False)


def define_depthwise_convolution_sum(module: Module, dtypes: Dtypes, numbers: Numbers) -> str:
    return _define(module, dtypes, numbers, True)


def _define(module: Module, dtypes: Dtypes, numbers: Numbers, adds: bool) -> str:
    """for channels: for some rows: for vectors of windows: for rows of the image: for taps: total += weight * x."""
    v, (rows, columns) = vectors_of(dtypes[0], module.machine), axes_of(numbers[2:])
    name = f"@whorl.depthwise_convolution.{v.suffix}.{shape_name(rows, columns)}{'.sum' * adds}"
    if name in module:
        return name
    pointers = [result_pointer(adds), "x", "w", "bias", "limits", *["=added"] * adds]
    f = Routine(module, name, pointers, NUMBERS, polls=True, divides=True)
    (begin, end), (first_row, end_row) = rows_or_channels(f)
    limits, taps = load_limits(f, v), rows.kernel * columns.kernel
    with f.loop(begin, end) as c:
        w = v.offset(f, f["w"], c * taps)
        weights = [v.load_splat(f, v.offset(f, w, tap)) for tap in range(taps)] if taps <= FEW_TAPS else []
        filter = Filter(f, v, adds, columns.kernel, c, w, weights, limits)
        of_filter = Taps(v.constant(f, 0.0), filter.begin, filter.add, filter.store)
        # What is added may lie where results are: none is computed twice.
        Plane(f, v, rows, columns, c, not adds, of_filter).go_over(first_row, end_row)
    f.end()
    return name


class Filter(Struct, frozen=True):
    """The weights of a channel, at `w` and as vectors where they are few, `width` of them in a row; limits of sums."""

    f: Routine
    v: Vectors
    adds: bool
    width: int
    channel: Index
    w: Value
    weights: Sequence[Value]
    limits: tuple[Value, Value]

    def begin(self) -> Sequence[Value]:
        return [self.f.variable(self.v.constant(self.f, 0.0))]

    def add(self, sums: Sequence[Value], i: int, elements: Sequence[Value]) -> None:
        f, v, (total,) = self.f, self.v, sums
        for j, x in enumerate(elements):
            tap = i * self.width + j
            weight = self.weights[tap] if self.weights else v.load_splat(f, v.offset(f, self.w, tap))
            f.store(add_product(f, v, f.load(v.type, total), x, weight), total)

    def store(self, sums: Sequence[Value], row: Index, column: Index) -> None:
        f, v, (slot,) = self.f, self.v, sums
        row_count, column_count = f.indices("row_count", "column_count")
        position, left = (self.channel * row_count + row) * column_count + column, column_count - column
        total = f.load(v.type, slot) + v.load_splat(f, v.offset(f, f["bias"], self.channel))
        if self.adds:
            mask = v.compare(f, "slt", v.lane_numbers(f, 0), left)
            total += v.masked_load(f, v.offset(f, f["added"], position), mask, v.constant(f, 0.0))
        v.store_part(f, v.clamp(f, total, *self.limits), v.offset(f, f["y"], position), left)
