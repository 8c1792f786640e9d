"""Kernels in LLVM IR that take an image plane by plane: splitting it by phases, and windows over a single plane."""

from __future__ import annotations

import math
from contextlib import ExitStack

from msgspec import Struct

from whorl.kernels.convolution.operands import load_offset
from whorl.kernels.convolution.tile import GRID
from whorl.kernels.kernel import LANES, Dtypes, Numbers
from whorl.kernels.machine import OVERREAD_BYTES, PLANE_ROWS
from whorl.llvm.module import Effort, Module
from whorl.llvm.routine import PARTS, Routine
from whorl.llvm.value import Index, Value, is_real
from whorl.llvm.vectors import Vectors, vectors_of

# ---- phases --------------------------------------------------------------------------------------------------


def define_split_phases(module: Module, dtypes: Dtypes, numbers: Numbers) -> str:
    """for channel, rows: a row of the image, by steps of the stride from each phase on, and what lies outside.

    Parts are rows of all channels, as those of convolutions are, or channels where there are few rows.

    What lies between channels and behind the last one is filled, too: windows side by side multiply it, and numbers
    that are not normal take a hundred times as long.
    """
    v = vectors_of(dtypes[0], module.machine)
    name = f"@whorl.split_phases.{v.suffix}"
    if name in module:
        return name
    axes = [[f"{what}{axis}" for what in ("length", "begin", "stride", "phases", "split")] for axis in range(3)]
    names = ["fill", "channels", "channel_stride", *(number for axis in axes for number in axis)]
    f = Routine(module, name, ["_s", "x"], names, polls=True, divides=True, effort=Effort.ROUTINES)
    lengths, begins, strides, phases, split = (f.indices(*(axis[n] for axis in axes)) for n in range(5))
    channels, channel_stride = f.indices("channels", "channel_stride")
    lowest = v.constant(f, -math.inf if is_real(v.scalar) else 0)
    fill = f.select(f["fill"].differs(0), lowest, v.constant(f, 0.0))
    by_rows = split[1] >= PARTS
    share = zip(f.share(channels), (0, channels), strict=True)
    begin, end = (f.choose(by_rows, f.index(whole), part) for part, whole in share)
    share = zip(f.share(split[1]), (0, split[1]), strict=True)
    first_row, end_row = (f.choose(by_rows, part, whole) for part, whole in share)
    image = channels * lengths[0] * lengths[1] * lengths[2]
    plain = strides[1].equals(1) & strides[2].equals(1) & split[2].equals(lengths[2])
    lines = Lines(f, v, fill, image, *_columns(f, v, lengths[2]))
    with ExitStack() as stack:
        c = stack.enter_context(f.loop(begin, end))
        p, i, q = (stack.enter_context(f.loop(0, count)) for count in (phases[0], split[0], phases[1]))
        first, in_depth = _source(f, i, p, 0)
        plane, number = (c * lengths[0] + first) * lengths[1], (p * phases[1] + q) * phases[2]
        low = f.most(f.least(begins[1], end_row), first_row)
        high = f.most(f.least(begins[1] + lengths[1], end_row), low)
        is_plain = plain & in_depth & ((high - low) * lengths[2] >= v.lanes)
        start = (plane + low - begins[1]) * lengths[2]
        with f.when(is_plain), f.loop(0, phases[2]) as r:
            f.poll((end_row - first_row) * split[2])
            target = c * channel_stride + ((number + r) * split[0] + i) * split[1] * split[2]
            _fill(f, v, target + first_row * split[2], (low - first_row) * split[2], fill)
            lines.copy(target + low * split[2], start, (high - low) * lengths[2], r - begins[2])
            _fill(f, v, target + high * split[2], (end_row - high) * split[2], fill)
        j = stack.enter_context(f.loop(f.choose(is_plain, end_row, first_row), end_row))
        f.poll(phases[2] * split[2])
        second, in_height = _source(f, j, q, 1)
        count = f.choose(in_depth & in_height, lengths[2], 0)
        row, phase = (number * split[0] + i) * split[1] + j, split[0] * split[1] * split[2]
        line = Line(f, v, fill, image, (plane + second) * lengths[2], count)
        line.split(c * channel_stride + row * split[2], phase)
    size = phases[0] * split[0] * phases[1] * split[1] * phases[2] * split[2]
    with f.when(end_row.equals(split[1])), f.loop(begin, end) as c:
        _fill(f, v, c * channel_stride + size, channel_stride - size, fill)
    with f.when(end_row.equals(split[1]) & end.equals(channels)):
        _fill(f, v, channels * channel_stride, f.index(OVERREAD_BYTES // v.size), fill)
    f.end()
    return name


class Lines(Struct, frozen=True):
    """Rows of an image of that size that are copied as one: where a vector's lanes lie in its row, is computed.

    `heads` are the columns of the lanes of the first vector of some rows, `tails` those of a vector that ends with
    them, and each vector begins `step` columns further than the one before.
    """

    f: Routine
    v: Vectors
    fill: Value
    image: Index
    width: Index
    heads: Value
    tails: Value
    step: Index

    def copy(self, target: Index, start: Index, count: Index, shift: Index) -> None:
        """s[target + j] = x[start + j + shift] where that is in the row of j, else fill, for j below count."""
        f, v = self.f, self.v
        columns, last = f.variable(self.heads), count - v.lanes
        with f.loop(0, last, v.lanes) as j:
            here = f.load(self.heads.type, columns)
            self._copy(target + j, start + j + shift, here, shift)
            f.store(_wrapped(f, v, here + v.splat_number(f, self.step), self.width), columns)
        self._copy(target + last, start + last + shift, self.tails, shift)

    def _copy(self, target: Index, position: Index, columns: Value, shift: Index) -> None:
        f, v = self.f, self.v
        mask = v.compare(f, "ult", columns + v.splat_number(f, shift), self.width)
        v.store(f, _load_inside(f, v, position, self.image, mask, self.fill), v.offset(f, f["s"], target))


def _columns(f: Routine, v: Vectors, width: Index) -> tuple[Index, Value, Value, Index]:
    """A width, and of rows of it: the columns of the first lanes, those of the last ones, and a vector's step."""
    lanes, count = v.lane_numbers(f, 0), f.most(width, 1)
    step = f.index(f.binary("urem", f.index(v.lanes), count))
    heads = f.value(lanes.type, f"urem {lanes}, {v.splat_number(f, count).text}")
    before = f.choose(step.equals(0), step, count - step)
    return width, heads, _wrapped(f, v, heads + v.splat_number(f, before), count), step


def _wrapped(f: Routine, v: Vectors, columns: Value, width: Index) -> Value:
    """Columns below twice the width, in their row."""
    return f.select(v.compare(f, "ult", columns, width), columns, columns - v.splat_number(f, width))


def _load_inside(f: Routine, v: Vectors, position: Index, size: Index, mask: Value, rest: Value) -> Value:
    """The lanes of a mask from x, which has so many elements, the others from `rest`.

    Loads by a mask take several times as long as others: only what would leave x is loaded so.
    """
    address, value = f.offset_outside(f["x"], v.scalar, position), f.variable(rest)
    is_inside = (position >= 0) & (position + v.lanes <= size)
    with f.when(is_inside):
        f.store(f.select(mask, v.load(f, address), rest), value)
    with f.when(is_inside ^ True):
        f.store(v.masked_load(f, address, mask, rest), value)
    return f.load(v.type, value)


def _fill(f: Routine, v: Vectors, first: Index, count: Index, fill: Value) -> None:
    """s[first + j] = fill for j below count; the last vector goes back so far that it ends there, if there is one."""
    target, last = v.offset(f, f["s"], first), f.most(count - v.lanes, 0)
    with f.loop(0, count, v.lanes) as n:
        j = f.least(n, last)
        v.store_part(f, fill, v.offset(f, target, j), count - j)


def _source(f: Routine, position: Index, phase: Index, axis: int) -> tuple[Index, Value]:
    """The element of the image at a position of a phase, and whether there is one."""
    stride, begin, length = f.indices(f"stride{axis}", f"begin{axis}", f"length{axis}")
    element = position * stride + phase - begin
    return element, f.compare("ult", element, length)


class Line(Struct, frozen=True):
    """A row of an image of that size, from an element on; nothing lies behind its first `count` elements."""

    f: Routine
    v: Vectors
    fill: Value
    image: Index
    start: Index
    count: Index

    def split(self, target: Index, phase: Index) -> None:
        """s[target + r * phase + j] = element j * stride + r - begin of the row, else fill, for the phases r.

        The last vector of a row goes back so far that it ends with the row: stores by a mask take several times as long
        as others.
        """
        f, v = self.f, self.v
        stride, begin, phases, length = f.indices("stride2", "begin2", "phases2", "split2")
        last = f.most(length - v.lanes, 0)
        pairs = f.choose(stride.equals(2), phases, 0)
        with f.loop(0, pairs, 2) as even, f.loop(0, length, v.lanes) as n:
            j = f.least(n, last)
            for r, value in enumerate(self._pairs(j * 2 + even - begin)):
                with f.when(phases - even > r):
                    v.store_part(f, value, v.offset(f, f["s"], target + phase * (even + r) + j), length - j)
        with f.loop(0, f.choose(stride.equals(2), f.index(0), phases)) as r, f.loop(0, length, v.lanes) as n:
            j = f.least(n, last)
            value = f.variable(self.fill)
            with f.when(stride.equals(1)):
                f.store(self._vectors(j + r - begin, 1)[0], value)
            with f.when(stride > 2):
                f.store(self._gather(j * stride + r - begin), value)
            v.store_part(f, f.load(v.type, value), v.offset(f, f["s"], target + phase * r + j), length - j)

    def _pairs(self, first: Index) -> tuple[Value, Value]:
        """The even and the odd ones of twice as many elements as a vector has lanes."""
        low, high = self._vectors(first, 2)
        return self.v.halves(self.f, low, high)

    def _vectors(self, first: Index, count: int) -> list[Value]:
        """So many vectors of neighbours."""
        f, v = self.f, self.v
        slots = [f.variable(self.fill) for _ in range(count)]
        is_inside = (first >= 0) & (first + count * v.lanes <= self.count)
        with f.when(is_inside):
            for n, slot in enumerate(slots):
                f.store(v.load(f, v.offset(f, f["x"], self.start + first + n * v.lanes)), slot)
        with f.when(is_inside ^ True):
            for n, slot in enumerate(slots):
                position = first + n * v.lanes
                mask = v.compare(f, "ult", v.lane_numbers(f, position), self.count)
                f.store(_load_inside(f, v, self.start + position, self.image, mask, self.fill), slot)
        return [f.load(v.type, slot) for slot in slots]

    def _gather(self, first: Index) -> Value:
        """Elements that lie a stride apart."""
        f, v = self.f, self.v
        indices = v.lane_numbers(f, first, f.argument("stride2"))
        x = f.offset_outside(f["x"], v.scalar, self.start)
        return v.gather(f, x, indices, v.compare(f, "ult", indices, self.count), self.fill)


# ---- windows -------------------------------------------------------------------------------------------------


def define_plane_sums(module: Module, dtypes: Dtypes, numbers: Numbers) -> str:
    return _define_windows(module, dtypes, True)


def define_plane_maxima(module: Module, dtypes: Dtypes, numbers: Numbers) -> str:
    return _define_windows(module, dtypes, False)


def _define_windows(module: Module, dtypes: Dtypes, is_sum: bool) -> str:
    """for slices: for 4 rows: for vectors of windows: total = 0; for taps: total += weight * x, or the larger one."""
    v = vectors_of(dtypes[0], module.machine)
    name = f"@whorl.plane_{'sums' if is_sum else 'maxima'}.{v.suffix}"
    if name in module:
        return name
    pointers = ["_y", "x", "offsets", *(("w", "bias", "limits") if is_sum else ())]
    f = Routine(
        module, name, pointers, ["taps", *(["bounded"] * is_sum), "reach", *GRID], polls=True, effort=Effort.ROUTINES
    )
    depth, rows, width, row_pitch, pitch = f.indices(*GRID)
    last = rows - 1
    with ExitStack() as stack:
        d = stack.enter_context(f.loop(0, depth))
        line = stack.enter_context(f.loop(0, rows, PLANE_ROWS))
        f.poll(f.argument("taps") * width * PLANE_ROWS // LANES)
        column = f.least(stack.enter_context(f.loop(0, width, v.lanes)), f.most(width - v.lanes, 0))
        lines = [f.least(line + n, last) for n in range(PLANE_ROWS)]
        sources = [v.offset(f, f["x"], (d * row_pitch + n) * pitch + column) for n in lines]
        totals = _add_taps(f, v, sources) if is_sum else _compare_taps(f, v, sources)
        left = width - column
        for n, slot in zip(lines, totals, strict=True):
            total = f.load(v.type, slot)
            if is_sum:
                total = _finish_sum(f, v, total)
            v.store_part(f, total, v.offset(f, f["y"], (d * rows + n) * width + column), left)
    f.end()
    return name


def _add_taps(f: Routine, v: Vectors, sources: list[Value]) -> list[Value]:
    """The sums of one vector of windows a source, in slots."""
    totals = [f.variable(v.constant(f, 0.0)) for _ in sources]
    with f.loop(0, f.argument("taps")) as tap:
        offset = load_offset(f, tap)
        weight = v.load_splat(f, v.offset(f, f["w"], tap))
        for source, slot in zip(sources, totals, strict=True):
            x = v.load(f, v.offset(f, source, offset))
            f.store(f.muladd(weight, x, f.load(v.type, slot)), slot)
    return totals


def _compare_taps(f: Routine, v: Vectors, sources: list[Value]) -> list[Value]:
    """The largest elements of one vector of windows a source, in slots; NaN is put in at the end where one was met."""
    totals = [f.variable(v.constant(f, -math.inf)) for _ in sources]
    broken = [f.variable(f.number(0, v.waiting_mask)) for _ in sources]
    with f.loop(0, f.argument("taps")) as tap:
        offset = load_offset(f, tap)
        for source, slot, mask in zip(sources, totals, broken, strict=True):
            x = v.load(f, v.offset(f, source, offset))
            f.store(v.larger(f, x, f.load(v.type, slot)), slot)
            f.store(f.load(v.waiting_mask, mask) | v.wait(f, x.is_nan()), mask)
    for slot, mask in zip(totals, broken, strict=True):
        is_broken = f.load(v.waiting_mask, mask).differs(0)
        f.store(f.select(is_broken, v.constant(f, math.nan), f.load(v.type, slot)), slot)
    return totals


def _finish_sum(f: Routine, v: Vectors, total: Value) -> Value:
    """The sum with its bias, between the limits if it is bounded."""
    slot = f.variable(total + v.load_splat(f, f["bias"]))
    with f.when(f["bounded"].differs(0)):
        low, high = (v.load_splat(f, v.offset(f, f["limits"], n)) for n in range(2))
        f.store(v.clamp(f, f.load(v.type, slot), low, high), slot)
    return f.load(v.type, slot)
