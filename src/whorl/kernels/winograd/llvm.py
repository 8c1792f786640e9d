"""Winograd's convolutions in LLVM IR: the transformed patches of an image by the transformed filters of features.

The patches of some groups are transformed, and stay near while the blocks of features go by.
"""

from __future__ import annotations

import math
from contextlib import nullcontext

from msgspec import Struct
from msgspec.structs import replace

from whorl.kernels.convolution.few import most_alone
from whorl.kernels.convolution.layout import filter_blocks
from whorl.kernels.convolution.operands import feature_operands, result_pointer
from whorl.kernels.convolution.tile import split_block
from whorl.kernels.kernel import LANES, Dtypes, Numbers
from whorl.kernels.machine import FILTER_BLOCK, NEAR_PATCHES, TILE_FEATURES
from whorl.kernels.winograd.layout import GROUP, POINTS, group_count, patch_counts, point_stride
from whorl.kernels.winograd.tile import OPERANDS, Tile, define_tile
from whorl.kernels.winograd.transform import Image, image_of, own_planes, transform_channel
from whorl.llvm.module import Module
from whorl.llvm.routine import Routine
from whorl.llvm.value import Index, Value
from whorl.llvm.vectors import Vectors, vectors_of

LEAST_BYTES = 16
"""The width of vectors by which a tile has all its sums on a page of the stack."""


def define_convolution(module: Module, dtypes: Dtypes, numbers: Numbers) -> str:
    return _define(module, dtypes, numbers, False)


def define_convolution_sum(module: Module, dtypes: Dtypes, numbers: Numbers) -> str:
    return _define(module, dtypes, numbers, True)


def _define(module: Module, dtypes: Dtypes, numbers: Numbers, adds: bool) -> str:
    """for some groups of patches: for channels: transform; for blocks of features: for these groups: tiles.

    Parts are shares of all groups by all blocks. Each transforms the groups that it has: two cores exchange lines of
    their caches more slowly than they make them. So all blocks of a group come before those of the next one.
    """
    machine = module.machine if module.machine.has_large_frames else replace(module.machine, vector_bytes=LEAST_BYTES)
    v, heights = vectors_of(dtypes[0], machine), [height for height, _, _ in filter_blocks(numbers[0])]
    patches = _patches_of_groups(*numbers[-2:])
    shape = f"{'x'.join(map(str, heights))}by{'and'.join(map(str, patches))}{'.sum' * adds}"
    name = f"@whorl.winograd_convolution.{v.suffix}.{shape}"
    if name in module:
        return name
    pointers = [result_pointer(adds), "_t", "_planes", *OPERANDS, *["=added"] * adds]
    names = ["features", "channels", "bounded", "rows", "columns"]
    f = Routine(module, name, pointers, names, polls=True, divides=True)
    image, (features, channels) = image_of(f), f.indices("features", "channels")
    count, size = (features + (FILTER_BLOCK - 1)) // FILTER_BLOCK, point_stride(channels) * POINTS
    low = features // count
    blocks = Blocks(f, v, adds, image, heights, patches, low, features - count * low)
    together = f.most(f.index(NEAR_PATCHES) // (size * v.size), 1)
    first, end = f.share(image.groups * count)
    start, limit = first // count, f.choose(first < end, (end + (count - 1)) // count, 0)
    planes = own_planes(f, v, image)
    with f.loop(start, limit, together) as begin:
        stop = f.least(begin + together, limit)
        t = f.offset_outside(f["t"], v.scalar, (f.argument("first_part") * together - begin) * size)
        with f.loop(0, channels) as channel:
            f.poll((stop - begin) * (8 * GROUP) // LANES)
            transform_channel(f, v, t, planes, channel, (begin, stop))
        with f.loop(0, count) as block:
            groups = _groups_with_block(f, block, count, (first, end), (begin, stop))
            with f.loop(*groups) as group:
                blocks.multiply(block, group, f.offset_outside(t, v.scalar, group * size))
    f.end()
    return name


def _groups_with_block(
    f: Routine, block: Index, count: Index, share: tuple[Index, Index], groups: tuple[Index, Index]
) -> tuple[Index, Index]:
    """Those of some groups, each of which has so many blocks, whose block with this number is in a share of all."""
    first, end = ((number + (count - 1) - block) // count for number in share)
    return f.most(first, groups[0]), f.least(end, groups[1])


def _patches_of_groups(rows: int, columns: int) -> list[int]:
    """How many patches groups have: all but the last one, which may be the only one, and the last."""
    count = math.prod(patch_counts(rows, columns))
    last = count - (group_count(rows, columns) - 1) * GROUP
    return [last] if last in (count, GROUP) else [GROUP, last]


def tiles_of(patches: int, lanes: int, alone: int) -> list[tuple[int, int, int]]:
    """So many patches as (first patch, vectors, patches alone): pairs of vectors, one, and up to so many alone."""
    vectors, left = divmod(patches, lanes)
    vectors += left > alone
    tiles = [(n * lanes, min(2, vectors - n), 0) for n in range(0, vectors, 2)]
    return tiles if left == 0 or left > alone else [*tiles, (vectors * lanes, 1, 1 if left == 1 else alone)]


class Blocks(Struct, frozen=True):
    """Blocks of features, of which the first `higher` have one more than `low`, by groups of patches."""

    f: Routine
    v: Vectors
    adds: bool
    image: Image
    heights: list[int]
    patches: list[int]
    low: Index
    higher: Index

    def multiply(self, block: Index, group: Index, t: Value) -> None:
        """A block by a group, which lies at t."""
        f, own = self.f, self.low + self.f.choose(block < self.higher, self.f.index(1), 0)
        feature = block * self.low + f.least(block, self.higher)
        for height in self.heights:
            with f.when(own.equals(height)):
                f.poll(f.argument("channels") * (POINTS * GROUP * height) // LANES)
                self._by_tiles(height, feature, group, t)

    def _by_tiles(self, height: int, feature: Index, group: Index, t: Value) -> None:
        f, v = self.f, self.v
        is_last = group.equals(self.image.groups - 1)
        for n, patches in enumerate(self.patches):
            with f.when(is_last ^ (n + 1 < len(self.patches))) if len(self.patches) > 1 else nullcontext():
                for lane, vectors, alone in tiles_of(patches, v.lanes, most_alone(v, height)):
                    most = height if alone else TILE_FEATURES[v.lanes * v.size]
                    for skipped, features in split_block(height, most):
                        tile = Tile(v, features, height, vectors, self.adds, alone)
                        self._run(tile, skipped, feature, group * GROUP + lane, v.offset(f, t, lane))

    def _run(self, tile: Tile, skipped: int, first: Index, patch: Index, t: Value) -> None:
        f, v, image, channels = self.f, self.v, self.image, self.f.argument("channels")
        define_tile(f.module, tile)
        y, *rest = feature_operands(f, v, self.adds, first + skipped, image.rows * image.columns)
        w = v.offset(f, f["w"], first * (channels * POINTS) + skipped)
        filters = (f.argument("features") - first) * (channels * POINTS) - skipped
        numbers = channels, filters, f["bounded"], image.rows, image.columns, patch
        f.run(tile.name, y, t, f["x"], w, *rest, *numbers)
