"""Tiles of Winograd's convolutions in LLVM IR: some features of a block by one or two vectors of patches."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from whorl.kernels.aligned import CACHE_LINE
from whorl.kernels.convolution.few import load_features, vectors_of_features
from whorl.kernels.convolution.operands import load_limits, result_pointer
from whorl.kernels.machine import FEW_SUMS, PREFETCH_TAPS
from whorl.kernels.winograd.layout import GROUP, POINTS, point_stride
from whorl.kernels.winograd.taps import define_by_taps
from whorl.kernels.winograd.transform import image_of
from whorl.llvm.module import Module
from whorl.llvm.routine import Routine
from whorl.llvm.value import Index, Value
from whorl.llvm.vectors import Vectors, add_product, prefetch_element

OPERANDS = ["x", "w", "bias", "limits"]
"""Besides the result, the transformed patches, and what is added."""


class Tile(Struct, frozen=True):
    """So many features of a block by so many vectors of patches; `adds`: plus a tensor like the result.

    With `alone` it is by so many patches of one vector, each of which is multiplied by vectors of all features.
    """

    v: Vectors
    features: int
    block: int
    vectors: int
    adds: bool
    alone: int = 0

    @property
    def name(self) -> str:
        suffix = f".alone{self.alone}" * (self.alone > 0) + ".sum" * self.adds
        return f"@whorl.patches.{self.v.suffix}.{self.features}of{self.block}x{self.vectors}{suffix}"

    @property
    def width(self) -> int:
        return self.vectors * self.v.lanes


def define_tile(module: Module, tile: Tile) -> None:
    """for points: the sums over channels; for features: the patches of results; for rows of patches: store them."""
    if tile.name in module:
        return
    v = tile.v
    names = ["channels", "filters", "bounded", "rows", "columns", "patch"]
    f = Routine(module, tile.name, [result_pointer(tile.adds), "t", *OPERANDS, *["=added"] * tile.adds], names)
    sums = f.slot(f"[{tile.features * POINTS * tile.width} x {v.scalar}]", align=CACHE_LINE)
    if tile.alone:
        _multiply_alone(f, tile, sums)
    else:
        with f.loop(0, POINTS) as point:
            _multiply(f, tile, point, sums)
    broken = f.variable(f.number(0, v.waiting_mask))
    with f.loop(0, tile.features) as feature:
        _finish_patches(f, tile, v.offset(f, sums, feature * (POINTS * tile.width)), feature, broken)
    bits = f.convert("bitcast", v.awaited(f, f.load(v.waiting_mask, broken)), f"i{v.lanes}")
    with f.when(bits.differs(0)):
        image = (f[name] for name in ("channels", "rows", "columns", "patch"))
        shape = (f.index(n) for n in (tile.features, tile.block, tile.width))
        f.run(define_by_taps(module, v), sums, f["x"], f["w"], f["bias"], *image, *shape)
    _store_patches(f, tile, sums)
    f.end()


def _multiply(f: Routine, tile: Tile, point: Index, sums: Value) -> None:
    """The sums over channels at a point, as [feature, point, patch]."""
    v, channels = tile.v, f.argument("channels")
    slots = [[f.variable(v.constant(f, 0.0)) for _ in range(tile.vectors)] for _ in range(tile.features)]
    t, first = v.offset(f, f["t"], point_stride(channels) * point), point * channels
    with f.loop(0, channels) as channel:
        x = v.offset(f, t, channel * GROUP)
        columns = [v.load(f, v.offset(f, x, n * v.lanes)) for n in range(tile.vectors)]
        w = (first + channel) * tile.block
        prefetch_element(f, f["w"], v.scalar, w + PREFETCH_TAPS * tile.block, f.argument("filters"))
        for r, row in enumerate(slots):
            factor = v.load_splat(f, v.offset(f, f["w"], w + r))
            for column, slot in zip(columns, row, strict=True):
                f.store(add_product(f, v, f.load(v.type, slot), column, factor), slot)
    target = v.offset(f, sums, point * tile.width)
    for r, row in enumerate(slots):
        for n, slot in enumerate(row):
            v.store(f, f.load(v.type, slot), v.offset(f, target, r * POINTS * tile.width + n * v.lanes))


def _multiply_alone(f: Routine, tile: Tile, sums: Value) -> None:
    """The same for patches alone, and zeros in the other lanes; of a single one several points side by side."""
    v, channels, parts = tile.v, f.argument("channels"), vectors_of_features(tile.v, tile.block)
    with f.loop(0, tile.features * POINTS) as n:
        v.store(f, v.constant(f, 0.0), v.offset(f, sums, n * tile.width))
    together = FEW_SUMS // 2 if tile.alone == 1 else 1
    slots = [[[f.variable(v.constant(f, 0.0)) for _ in range(tile.alone)] for _ in parts] for _ in range(together)]
    with f.loop(0, POINTS, together) as first:
        for slot in (slot for rows in slots for row in rows for slot in row):
            f.store(v.constant(f, 0.0), slot)
        with f.loop(0, channels) as channel:
            for n, rows in enumerate(slots):
                point = first + n
                x = v.offset(f, f["t"], point_stride(channels) * point + channel * GROUP)
                elements = [v.load_splat(f, v.offset(f, x, k)) for k in range(tile.alone)]
                w = (point * channels + channel) * tile.block
                prefetch_element(f, f["w"], v.scalar, w + PREFETCH_TAPS * tile.block, f.argument("filters"))
                for (start, _), row in zip(parts, rows, strict=True):
                    factors = load_features(f, v, tile.block, v.offset(f, f["w"], w + start))
                    for element, slot in zip(elements, row, strict=True):
                        f.store(add_product(f, v, f.load(v.type, slot), element, factors), slot)
        for n, rows in enumerate(slots):
            for (start, lanes), row in zip(parts, rows, strict=True):
                for k, slot in enumerate(row):
                    total = f.load(v.type, slot)
                    for lane in lanes:
                        element = f.value(v.scalar, f"extractelement {total}, i64 {lane}")
                        position = (first + (n + (start + lane) * POINTS)) * tile.width + k
                        f.store(element, v.offset(f, sums, position), v.size)


def _finish_patches(f: Routine, tile: Tile, sums: Value, feature: Index, broken: Value) -> None:
    """The results of a feature, with its bias, in place: the upper elements of all patches, then the lower ones."""
    v, halves = tile.v, list[Sequence[Value]]()
    bias = v.load_splat(f, v.offset(f, f["bias"], feature))
    for n in range(tile.vectors):
        points = [v.load(f, v.offset(f, sums, point * tile.width + n * v.lanes)) for point in range(POINTS)]
        columns = [_sums(*points[j::4]) for j in range(4)]
        for i in range(2):
            patch = _sums(*(column[i] for column in columns))
            for element in patch:
                waiting = v.wait(f, f.compare("une", element - element, v.constant(f, 0.0)))
                f.store(f.load(v.waiting_mask, broken) | waiting, broken)
            halves.append(v.interleave(f, *(element + bias for element in patch)))
    for n, half in enumerate(halves):
        for k, part in enumerate(half):
            position = n % 2 * 2 * tile.width + (n // 2 * 2 + k) * v.lanes
            v.store(f, part, v.offset(f, sums, position))


def _sums(a: Value, b: Value, c: Value, d: Value) -> tuple[Value, Value]:
    return a + b + c, b - c - d


def _store_patches(f: Routine, tile: Tile, sums: Value) -> None:
    """Store the results of all features, plus what is added, one row of patches after the other."""
    v, image, patch = tile.v, image_of(f), f.argument("patch")
    limits, end = load_limits(f, v), f.least(patch + tile.width, image.down * image.across)
    with f.loop(patch // image.across, (end - 1) // image.across + 1) as down:
        first = f.most(down * image.across, patch)
        column = (first - down * image.across) * 2
        count = f.least((f.least((down + 1) * image.across, end) - first) * 2, image.columns - column)
        with f.loop(0, f.least(image.rows - down * 2, 2)) as lower:
            source = lower * (2 * tile.width) + (first - patch) * 2
            target = (down * 2 + lower) * image.columns + column
            with f.loop(0, tile.features) as feature, f.loop(0, count, v.lanes) as n:
                total = v.load(f, v.offset(f, sums, feature * (POINTS * tile.width) + source + n))
                position, left = feature * (image.rows * image.columns) + target + n, count - n
                if tile.adds:
                    total += _load_part(f, v, v.offset(f, f["added"], position), left)
                v.store_part(f, v.clamp(f, total, *limits), v.offset(f, f["y"], position), left)


def _load_part(f: Routine, v: Vectors, address: Value, left: Index) -> Value:
    """The first `left` lanes of memory, and zeros."""
    value, is_whole = f.variable(v.constant(f, 0.0)), left >= v.lanes
    with f.when(is_whole):
        f.store(v.load(f, address), value)
    with f.when(is_whole ^ True):
        mask = v.compare(f, "slt", v.lane_numbers(f, 0), left)
        f.store(v.masked_load(f, address, mask, v.constant(f, 0.0)), value)
    return f.load(v.type, value)
