"""Results of Winograd's convolutions that are not finite, computed again tap by tap, in LLVM IR.

A transformed patch has differences of elements: where one is infinite, all results of the patch may be NaN, and those
that do not read it, too.
"""

from __future__ import annotations

from whorl.kernels.winograd.layout import POINTS
from whorl.kernels.winograd.transform import image_of
from whorl.llvm.module import Module
from whorl.llvm.routine import Routine
from whorl.llvm.value import Index, Value
from whorl.llvm.vectors import Vectors


def define_by_taps(module: Module, v: Vectors) -> str:
    """for features: for patches: for their results that are not finite: bias + the sum over channels and taps.

    Sums are those of a tile of so many patches, and filters those of its features in a block of so many.
    """
    name = f"@whorl.patches_by_taps.{v.suffix}"
    if name in module:
        return name
    names = ["channels", "rows", "columns", "patch", "features", "block", "width"]
    f = Routine(module, name, ["_sums", "x", "w", "bias"], names)
    image, (patch, features, _, width) = image_of(f), f.indices(*names[3:])
    count = f.least(image.down * image.across - patch, width)
    with f.loop(0, features) as feature, f.loop(0, count) as lane, f.loop(0, 2) as lower, f.loop(0, 2) as right:
        position = width * (feature * POINTS + lower * 2) + lane * 2 + right
        address = v.offset(f, f["sums"], position)
        total = f.load(v.scalar, address, v.size)
        with f.when(f.compare("une", total - total, f.number(0.0, v.scalar))):
            down = (patch + lane) // image.across
            row, column = down * 2 + lower, (patch + lane - down * image.across) * 2 + right
            total = _sum(f, v, (row, column), feature)
            bias = f.load(v.scalar, v.offset(f, f["bias"], feature), v.size)
            f.store(total + bias, address, v.size)
    f.end()
    return name


def _sum(f: Routine, v: Vectors, window: tuple[Index, Index], feature: Index) -> Value:
    total, (row, column), (rows, columns) = f.variable(f.number(0.0, v.scalar)), window, f.indices("rows", "columns")
    with f.loop(0, f.argument("channels")) as channel, f.loop(0, 3) as i, f.loop(0, 3) as j:
        y, x = row + i - 1, column + j - 1
        with f.when((y >= 0) & (y < rows) & (x >= 0) & (x < columns)):
            element = f.load(v.scalar, v.offset(f, f["x"], (channel * rows + y) * columns + x), v.size)
            f.store(f.muladd(element, _tap(f, v, i, j, channel, feature), f.load(v.scalar, total)), total)
    return f.load(v.scalar, total)


def _tap(f: Routine, v: Vectors, i: Index, j: Index, channel: Index, feature: Index) -> Value:
    """A tap of a filter: along each axis the point 0, 1 less the point 2 unless that is NaN, or 3."""
    channels, block, values = f.argument("channels"), f.argument("block"), list[Value]()
    rows, columns = (_points(f, n) for n in (i, j))
    for row in rows:
        first, second = (
            f.load(v.scalar, v.offset(f, f["w"], (channels * (row * 4 + n) + channel) * block + feature), v.size)
            for n in columns
        )
        values.append(_less(f, j, first, second))
    return _less(f, i, *values)


def _less(f: Routine, tap: Index, first: Value, second: Value) -> Value:
    return f.select(tap.equals(1) & second.equals(second), first - second, first)


def _points(f: Routine, tap: Index) -> tuple[Index, Index]:
    first = f.choose(tap.equals(2), f.index(3), tap)
    return first, f.choose(tap.equals(1), f.index(2), first)
