"""Windows over planes in LLVM IR: the image is read as it lies, and what windows have outside of it is masked.

Several rows of windows are computed side by side: each row of the image is loaded once for all that meet it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from whorl.kernels.kernel import LANES, Numbers
from whorl.kernels.machine import PLANE_ROWS
from whorl.llvm.routine import PARTS, Routine
from whorl.llvm.value import Index, Value
from whorl.llvm.vectors import Vectors


class Axis(Struct, frozen=True):
    """What is known of windows along an axis where a routine is written."""

    kernel: int
    stride: int
    dilation: int


def axes_of(numbers: Numbers) -> tuple[Axis, Axis]:
    """Both axes of windows, by the numbers that kernels have of them."""
    return Axis(*numbers[2:8:2]), Axis(*numbers[3:8:2])


def shape_name(rows: Axis, columns: Axis) -> str:
    """The part of a routine's name that says which windows it is for."""
    pairs = (rows.kernel, columns.kernel), (rows.stride, columns.stride), (rows.dilation, columns.dilation)
    return ".".join(f"{a}x{b}" for a, b in pairs)


class Taps(Struct, frozen=True):
    """What is made of the elements of a window.

    `begin()` are the variables of some windows side by side, `add(variables, i, elements)` adds the elements of row i
    of their taps, and `store(variables, row, column)` writes them. `rest` is what windows have outside of the image.
    """

    rest: Value
    begin: Callable[[], Sequence[Value]]
    add: Callable[[Sequence[Value], int, Sequence[Value]], None]
    store: Callable[[Sequence[Value], Index, Index], None]


class Plane(Struct, frozen=True):
    """The windows of one channel of an image. `goes_back`: the last vector of a row may go back to end with it."""

    f: Routine
    v: Vectors
    rows: Axis
    columns: Axis
    channel: Index
    goes_back: bool
    taps: Taps

    def go_over(self, first_row: Index, end_row: Index) -> None:
        """All windows of some rows."""
        f, lanes, count = self.f, self.v.lanes, self.f.argument("column_count")
        work = self.rows.kernel * self.columns.kernel * PLANE_ROWS
        last = f.most(count - lanes, 0)
        with f.loop(first_row, end_row, PLANE_ROWS) as line:
            f.poll(count * work // LANES)
            with f.loop(0, count, lanes) as column:
                self._go_over_block(line, end_row, f.least(column, last) if self.goes_back else column)

    def _go_over_block(self, line: Index, end_row: Index, column: Index) -> None:
        """A vector of windows of some rows. Vectors that would leave the image are read by masks alone."""
        f, v = self.f, self.v
        if v.waiting_mask == v.mask:
            self._add_up(line, end_row, column, True)
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
            self._add_up(line, end_row, column, False)
        with f.when(is_inside ^ True):
            self._add_up(line, end_row, column, True)

    def _add_up(self, line: Index, end_row: Index, column: Index, by_mask: bool) -> None:
        f, v, stride = self.f, self.v, self.columns.stride
        rest, kernel = self.taps.rest, range(self.rows.kernel)
        totals = [self.taps.begin() for _ in range(PLANE_ROWS)]
        height, width, row_begin, column_begin = f.indices("rows", "columns", "row_begin", "column_begin")
        left = column * stride - column_begin
        sources = {n: left + n for n in self._starts()}
        masks = {n: v.compare(f, "ult", v.lane_numbers(f, start), width) for n, start in sources.items()}
        steps = {o * self.rows.stride + i * self.rows.dilation for o in range(PLANE_ROWS) for i in kernel}
        for step in sorted(steps):
            row = line * self.rows.stride + step - row_begin
            slots = [f.variable(rest) for _ in range(self.columns.kernel)]
            with f.when(f.compare("ult", row, height)):
                x = v.offset(f, f["x"], (self.channel * height + row) * width)
                loaded = dict[int, Value]()
                for n, start in sources.items():
                    address, mask = f.offset_outside(x, v.scalar, start), masks[n]
                    masked = v.masked_load(f, address, mask, rest) if by_mask else None
                    loaded[n] = masked or f.select(mask, v.load(f, address), rest)
                for slot, element in zip(slots, self._elements(loaded), strict=True):
                    f.store(element, slot)
            elements = [f.load(v.type, slot) for slot in slots]
            for o, total in enumerate(totals):
                i, between = divmod(step - o * self.rows.stride, self.rows.dilation)
                if i in kernel and not between:
                    self.taps.add(total, i, elements)
        for o, total in enumerate(totals):
            with f.when(line + o < end_row):
                self.taps.store(total, line + o, column)

    def _starts(self) -> list[int]:
        """The elements, counted from that of the first tap, from which vectors are loaded for a row of taps."""
        lanes, steps = self.v.lanes, [j * self.columns.dilation for j in range(self.columns.kernel)]
        if self.columns.stride == 1:
            return steps
        return list(dict.fromkeys(n for step in steps for n in (step & -2, (step & -2) + lanes)))

    def _elements(self, loaded: dict[int, Value]) -> list[Value]:
        """Those of each tap of a row."""
        steps = [j * self.columns.dilation for j in range(self.columns.kernel)]
        if self.columns.stride == 1:
            return [loaded[step] for step in steps]
        pairs = {
            even: self.v.halves(self.f, loaded[even], loaded[even + self.v.lanes])
            for even in dict.fromkeys(step & -2 for step in steps)
        }
        return [pairs[step & -2][step & 1] for step in steps]


def rows_or_channels(f: Routine) -> tuple[tuple[Index, Index], tuple[Index, Index]]:
    """The channels and the rows of windows of some parts.

    Parts are rows, as those of other convolutions are, or channels where there are few rows: a row more or less to read
    from another core takes long beside these.
    """
    row_count, channels = f.indices("row_count", "channels")
    by_rows = row_count >= 2 * PARTS
    begin, end = (
        f.choose(by_rows, whole, part) for whole, part in zip(_all(f, channels), f.share(channels), strict=True)
    )
    rows = zip(f.share(row_count), _all(f, row_count), strict=True)
    first_row, end_row = (f.choose(by_rows, part, whole) for part, whole in rows)
    return (begin, end), (first_row, end_row)


def _all(f: Routine, count: Index) -> tuple[Index, Index]:
    return f.index(0), count
