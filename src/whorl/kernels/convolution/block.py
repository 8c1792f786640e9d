"""Blocks of features by windows that are read where they lie in the image, in LLVM IR."""

from __future__ import annotations

from msgspec import Struct

from whorl.kernels.convolution.few import FewWindows, most_alone, multiply_few
from whorl.kernels.convolution.operands import feature_operands, filters_from
from whorl.kernels.convolution.tile import Grid, Tile, define_tile, split_block
from whorl.kernels.machine import FEW_WINDOWS, LEAST_HEIGHT, TILE_FEATURES
from whorl.llvm.routine import Routine
from whorl.llvm.value import Index
from whorl.llvm.vectors import Vectors


class Block(Struct, frozen=True):
    """The features of a block from a number on, by the windows of a grid."""

    f: Routine
    v: Vectors
    height: int
    feature: Index
    grid: Grid
    adds: bool

    def multiply(self, vectors: int, window: Index, begin: Index) -> None:
        """So many vectors of windows from one on; those before `begin` are not stored."""
        f, v, grid = self.f, self.v, self.grid
        for skipped, features in split_block(self.height, TILE_FEATURES[f.module.machine.vector_bytes]):
            tile = Tile(v, features, self.height, vectors, self.adds)
            define_tile(f.module, tile)
            filters = v.offset(f, v.offset(f, f["w"], self.feature * f.argument("inner")), skipped)
            count = filters_from(f, self.feature) - skipped
            x = v.offset(f, f["x"], window)
            y, *rest = feature_operands(f, v, self.adds, self.feature + skipped, grid.pixels)
            numbers = f["inner"], count, f["bounded"], grid.pixels, window, begin, grid.span, *grid.lines
            f.run(tile.name, y, x, f["offsets"], filters, *rest, *numbers)

    def multiply_rest(self, vectors: int, start: Index, stop: Index) -> None:
        """The last windows, fewer than a tile has: by vectors, and by each alone where rows lie without gaps.

        A tile that covers windows of the one before computes them again, and does not store them.
        """
        f, v = self.f, self.v
        narrow, alone = divide_rest(f, v, self.height, self.grid, stop - start)
        is_narrow = narrow < (vectors if self.height >= LEAST_HEIGHT else 0)
        with f.when(is_narrow):
            self.multiply_narrow(start, narrow)
            with f.loop(stop - alone, stop, FEW_WINDOWS) as window:
                multiply_few(f, FewWindows(v, self.height, 1, self.adds), self.feature, window)
        with f.when(is_narrow ^ True):
            self.multiply(vectors, f.most(self.grid.span - vectors * v.lanes, 0), start)

    def multiply_narrow(self, start: Index, count: Index) -> None:
        """So many vectors of windows, each for itself."""
        f, v = self.f, self.v
        with f.loop(0, count) as n:
            window = start + n * v.lanes
            self.multiply(1, f.most(f.least(window, self.grid.span - v.lanes), 0), window)


def divide_rest(f: Routine, v: Vectors, height: int, grid: Grid, count: Index) -> tuple[Index, Index]:
    """So many windows as vectors of them, and those that are left for each alone."""
    narrow = f.index(f.binary("udiv", count, f.index(v.lanes)))
    left = count - narrow * v.lanes
    is_alone = grid.span.equals(grid.pixels) & (left <= most_alone(v, height))
    narrow = narrow + f.choose(is_alone, f.index(0), f.choose(left > 0, f.index(1), 0))
    return narrow, f.choose(is_alone, left, 0)
