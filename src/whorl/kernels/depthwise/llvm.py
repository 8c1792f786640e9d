"""Depthwise convolutions in LLVM IR: the image is read as it lies, and what windows have outside of it is masked.

Several rows of windows are computed side by side: each row of the image is loaded once for all that meet it.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from whorl.kernels.convolution.operands import load_limits, result_pointer
from whorl.kernels.depthwise.meaning import NUMBERS
from whorl.kernels.kernel import LANES, Dtypes, Numbers
from whorl.kernels.machine import PLANE_ROWS
from whorl.llvm.module import Module
from whorl.llvm.routine import PARTS, Routine
from whorl.llvm.value import Index, Value
from whorl.llvm.vectors import Vectors, add_product, vectors_of

FEW_TAPS = 9
"""Weights of a filter that have registers through all of its windows."""


def define_depthwise_convolution(module: Module, dtypes: Dtypes, numbers: Numbers) -> str:
    return _define(module, dtypes, numbers, False)


def define_depthwise_convolution_sum(module: Module, dtypes: Dtypes, numbers: Numbers) -> str:
    return _define(module, dtypes, numbers, True)


class Axis(Struct, frozen=True):
    """What is known of windows along an axis where a routine is written."""

    kernel: int
    stride: int
    dilation: int


def _define(module: Module, dtypes: Dtypes, numbers: Numbers, adds: bool) -> str:
    """for channels: for some rows: for vectors of windows: for rows of the image: for taps: total += weight * x.

    Parts are rows of windows, as those of other convolutions are, or channels where there are few rows: a row more or
    less to read from another core takes long beside these.
    """
    v = vectors_of(dtypes[0], module.machine)
    rows, columns = (Axis(*numbers[first : first + 6 : 2]) for first in (4, 5))
    shape = ".".join(f"{a}x{b}" for a, b in zip(_fields(rows), _fields(columns), strict=True))
    name = f"@whorl.depthwise_convolution.{v.suffix}.{shape}{'.sum' * adds}"
    if name in module:
        return name
    pointers = [result_pointer(adds), "x", "w", "bias", "limits", *["=added"] * adds]
    f = Routine(module, name, pointers, NUMBERS, polls=True, divides=True)
    row_count, channels = f.indices("row_count", "channels")
    by_rows = row_count >= 2 * PARTS
    share = zip(f.share(channels), (0, channels), strict=True)
    begin, end = (f.choose(by_rows, f.index(whole), part) for part, whole in share)
    share = zip(f.share(row_count), (0, row_count), strict=True)
    first_row, end_row = (f.choose(by_rows, part, whole) for part, whole in share)
    limits, taps = load_limits(f, v), rows.kernel * columns.kernel
    with f.loop(begin, end) as c:
        w = v.offset(f, f["w"], c * taps)
        weights = [v.load_splat(f, v.offset(f, w, tap)) for tap in range(taps)] if taps <= FEW_TAPS else []
        plane = Plane(f, v, adds, rows, columns, c, w, weights, limits)
        with f.loop(first_row, end_row, PLANE_ROWS) as line:
            f.poll(f.argument("column_count") * (taps * PLANE_ROWS) // LANES)
            with f.loop(0, f.argument("column_count"), v.lanes) as column:
                plane.convolve(line, end_row, plane.start_of(column))
    f.end()
    return name


def _fields(axis: Axis) -> tuple[int, ...]:
    return axis.kernel, axis.stride, axis.dilation


class Plane(Struct, frozen=True):
    """The windows of one channel, its weights, at `w` and as vectors where they are few, and the limits of results."""

    f: Routine
    v: Vectors
    adds: bool
    rows: Axis
    columns: Axis
    channel: Index
    w: Value
    weights: Sequence[Value]
    limits: tuple[Value, Value]

    def start_of(self, column: Index) -> Index:
        """The first of a vector of windows: the last vector ends with the row, but not where windows are summed up."""
        left = self.f.most(self.f.argument("column_count") - self.v.lanes, 0)
        return column if self.adds else self.f.least(column, left)

    def convolve(self, line: Index, end_row: Index, column: Index) -> None:
        """A vector of windows of some rows. Vectors that would leave the image are read by masks alone."""
        f, v = self.f, self.v
        if v.waiting_mask == v.mask:
            self.add_up(line, end_row, column, True)
            return
        height, width, row_begin, column_begin = f.indices("rows", "columns", "row_begin", "column_begin")
        last = (PLANE_ROWS - 1) * self.rows.stride + (self.rows.kernel - 1) * self.rows.dilation
        row, left = line * self.rows.stride - row_begin, column * self.columns.stride - column_begin
        reach = (self.columns.kernel - 1) * self.columns.dilation + 2 * v.lanes
        before, planes = self.channel * height, f.argument("channels") * height
        first = (before + f.most(row, 0)) * width + left
        final = (before + f.least(row + last, height - 1)) * width + left + reach
        is_inside = (first >= 0) & (final <= planes * width)
        with f.when(is_inside):
            self.add_up(line, end_row, column, False)
        with f.when(is_inside ^ True):
            self.add_up(line, end_row, column, True)

    def add_up(self, line: Index, end_row: Index, column: Index, by_mask: bool) -> None:
        f, v, stride = self.f, self.v, self.columns.stride
        zero, kernel = v.constant(f, 0.0), range(self.rows.kernel)
        totals = [f.variable(zero) for _ in range(PLANE_ROWS)]
        height, width, row_begin, column_begin = f.indices("rows", "columns", "row_begin", "column_begin")
        left = column * stride - column_begin
        sources = {n: left + n for n in self.starts()}
        masks = {n: v.compare(f, "ult", v.lane_numbers(f, start), width) for n, start in sources.items()}
        steps = {o * self.rows.stride + i * self.rows.dilation for o in range(PLANE_ROWS) for i in kernel}
        for step in sorted(steps):
            row = line * self.rows.stride + step - row_begin
            slots = [f.variable(zero) for _ in range(self.columns.kernel)]
            with f.when(f.compare("ult", row, height)):
                x = v.offset(f, f["x"], (self.channel * height + row) * width)
                loaded = dict[int, Value]()
                for n, start in sources.items():
                    address, mask = f.offset_outside(x, v.scalar, start), masks[n]
                    masked = v.masked_load(f, address, mask, zero) if by_mask else None
                    loaded[n] = masked or f.select(mask, v.load(f, address), zero)
                for slot, element in zip(slots, self.elements(loaded), strict=True):
                    f.store(element, slot)
            elements = [f.load(v.type, slot) for slot in slots]
            for o, total in enumerate(totals):
                i, rest = divmod(step - o * self.rows.stride, self.rows.dilation)
                if i in kernel and not rest:
                    self.add_taps(total, i, elements)
        for o, total in enumerate(totals):
            with f.when(line + o < end_row):
                self.store(f.load(v.type, total), line + o, column)

    def starts(self) -> list[int]:
        """The elements, counted from that of the first tap, from which vectors are loaded for a row of taps."""
        lanes, steps = self.v.lanes, [j * self.columns.dilation for j in range(self.columns.kernel)]
        if self.columns.stride == 1:
            return steps
        return list(dict.fromkeys(n for step in steps for n in (step & -2, (step & -2) + lanes)))

    def elements(self, loaded: dict[int, Value]) -> list[Value]:
        """Those of each tap of a row."""
        steps = [j * self.columns.dilation for j in range(self.columns.kernel)]
        if self.columns.stride == 1:
            return [loaded[step] for step in steps]
        pairs = {
            even: self.v.halves(self.f, loaded[even], loaded[even + self.v.lanes])
            for even in dict.fromkeys(step & -2 for step in steps)
        }
        return [pairs[step & -2][step & 1] for step in steps]

    def add_taps(self, total: Value, i: int, elements: Sequence[Value]) -> None:
        """Add a row of taps to a sum."""
        f, v = self.f, self.v
        for j, x in enumerate(elements):
            tap = i * self.columns.kernel + j
            weight = self.weights[tap] if self.weights else v.load_splat(f, v.offset(f, self.w, tap))
            f.store(add_product(f, v, f.load(v.type, total), x, weight), total)

    def store(self, total: Value, row: Index, column: Index) -> None:
        f, v = self.f, self.v
        row_count, column_count = f.indices("row_count", "column_count")
        position, left = (self.channel * row_count + row) * column_count + column, column_count - column
        value = f.variable(total + v.load_splat(f, v.offset(f, f["bias"], self.channel)))
        if self.adds:
            mask = v.compare(f, "slt", v.lane_numbers(f, 0), left)
            added = v.masked_load(f, v.offset(f, f["added"], position), mask, v.constant(f, 0.0))
            f.store(f.load(v.type, value) + added, value)
        result = v.clamp(f, f.load(v.type, value), *self.limits)
        v.store_part(f, result, v.offset(f, f["y"], position), left)
