"""Convolutions of many features in LLVM IR: the windows of some tiles are gathered before filters go by them.

The taps of a window lie in as many lines of the cache and in almost as many pages, which a near cache has not room for:
each block of features would wait for them again. So some taps of some tiles are copied to memory that stays near, one
after the other, where all blocks of a group read them in order. Where that is not all of the taps, sums wait near by,
too: every element stays one sum over ascending taps. Where all taps fit, all blocks are one group.

Windows that are left behind the last tile go with the last tiles, while the filters are near.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from whorl.kernels.aligned import CACHE_LINE
from whorl.kernels.convolution.block import divide_rest
from whorl.kernels.convolution.few import FewWindows, blocks_together, define_few
from whorl.kernels.convolution.operands import feature_operands, filters_from, load_offset
from whorl.kernels.convolution.tile import Grid, Tile, define_tile, split_block
from whorl.kernels.kernel import LANES
from whorl.kernels.machine import (
    BLOCKS_TOGETHER,
    FEW_WINDOWS,
    FILTER_BLOCK,
    GATHERED_BLOCKS,
    GATHERED_BYTES,
    GATHERED_TILES,
    GATHERING_FEATURES,
    SMALL_FRAME,
    TILE_FEATURES,
)
from whorl.llvm.module import Machine, Module
from whorl.llvm.routine import Routine
from whorl.llvm.value import Index, Value

Blocks = Sequence[tuple[int, Index | int, Index, Index]]
"""Blocks of each height: the height, the first feature of all of that height, the first block, and the one after."""


def is_gathered(machine: Machine, features: int) -> bool:
    """Whether windows are gathered that could be read where they lie."""
    return machine.has_large_frames and features >= GATHERING_FEATURES.get(machine.vector_bytes, features + 1)


class Room(Struct, frozen=True):
    """The most taps of so many tiles that are gathered, and the blocks of features that go by them."""

    taps: int
    tiles: int
    blocks: int


def room_of(machine: Machine) -> Room:
    """The nearest cache has room for the taps of a tile, and a frame of the stack for all of them with all sums."""
    if not machine.has_large_frames:
        return Room(*SMALL_FRAME)
    return Room(GATHERED_BYTES // machine.vector_bytes, GATHERED_TILES[machine.vector_bytes], GATHERED_BLOCKS)


class Source(Protocol):
    """Where windows are gathered from; `together`: so many taps at least, or a multiple of them."""

    @property
    def together(self) -> Index: ...

    def gather(self, columns: Value, window: Index, taps: tuple[Index, Index], slots: Index, last: Index) -> None:
        """Gather taps, from one on so many, of the windows of slots, of which the last one begins with `last`."""
        ...


class InImage(Struct, frozen=True):
    """Windows whose taps lie at the offsets of a table from them."""

    f: Routine
    like: Tile
    room: Room

    @property
    def together(self) -> Index:
        return self.f.index(1)

    def gather(self, columns: Value, window: Index, taps: tuple[Index, Index], slots: Index, last: Index) -> None:
        f, v, (tap, count) = self.f, self.like.v, taps
        source, offsets = v.offset(f, f["x"], window), f.offset(f["offsets"], "i32", tap)
        f.run(_define_gather(f.module, self.like, self.room), columns, source, offsets, count, slots, last - window)


class Some(Struct, frozen=True):
    """Some tiles of windows from one on, and where it `has_rest`, what is left behind them.

    Those are so many vectors of windows from `start` on, and the last windows before `end`, that each go alone.
    """

    window: Index
    tiles: Index
    has_rest: Value
    start: Index
    narrow: Index
    alone: Index
    end: Index


class Group(Struct, frozen=True):
    """Blocks of one height, of a group in which `before` others lie before them, and the first feature of all."""

    height: int
    first: Index
    stop: Index
    before: Index
    feature: Index

    def feature_of(self, block: Index) -> Index:
        return self.feature + (block - self.first) * self.height


class Memory(Struct, frozen=True):
    """Where the windows of some tiles, and the sums of some blocks by them, wait."""

    like: Tile
    room: Room
    columns: Value
    sums: Value

    def columns_of(self, f: Routine, slot: Index) -> Value:
        return self.like.v.offset(f, self.columns, slot * (self.room.taps * self.like.width))

    def sums_of(self, f: Routine, block: Index, slot: Index) -> Value:
        size = FILTER_BLOCK * self.like.width
        return self.like.v.offset(f, self.sums, (block * (self.room.tiles + 1) + slot) * size)


def convolve_gathered(
    f: Routine, like: Tile, blocks: Blocks, windows: tuple[Index, Index], grid: Grid, source: Source
) -> None:
    """for some tiles of windows: for groups of blocks: for taps: gather; for blocks: tiles; for blocks: rest."""
    v, step, room, (first, end) = like.v, like.width, room_of(f.module.machine), windows
    whole = f.index(f.binary("udiv", end - first, f.index(step)))
    start = first + whole * step
    narrow, alone = divide_rest(f, v, blocks[0][0], grid, end - start)
    is_tile = narrow >= like.vectors
    tiles, has_rest = whole + f.choose(is_tile, f.index(1), 0), (is_tile ^ True) & (end > start)
    slots = room.tiles + 1
    columns = f.slot(f"[{slots * room.taps * step} x {v.scalar}]", align=CACHE_LINE)
    sums = f.slot(f"[{slots * room.blocks * FILTER_BLOCK * step} x {v.scalar}]", align=CACHE_LINE)
    total = sum((stop - begin for _, _, begin, stop in blocks), f.index(0))
    turns = _turns(f, source.together, room)
    is_whole = turns[0].equals(1)
    groups = f.choose(is_whole, f.index(1), (total + (room.blocks - 1)) // room.blocks)
    with f.loop(0, f.most(tiles, f.choose(has_rest, f.index(1), 0)), room.tiles) as tile:
        count, is_last = f.least(tiles - tile, room.tiles), tile + room.tiles >= tiles
        some = Some(first + tile * step, count, has_rest & is_last, start, narrow, alone, end)
        with f.loop(0, groups) as n:
            before = n * room.blocks
            range = before, f.choose(is_whole, total, before + room.blocks)
            memory = Memory(like, room, columns, sums)
            _multiply_groups(f, memory, _groups_in(f, blocks, range), some, grid, source, turns)


def _turns(f: Routine, together: Index, room: Room) -> tuple[Index, Index]:
    """In how many turns taps are gathered, and how many at most in each."""
    units, most = f.argument("inner") // together, f.index(room.taps) // together
    count = f.most((units + (most - 1)) // most, 1)
    return count, (units + (count - 1)) // count * together


def _groups_in(f: Routine, blocks: Blocks, range: tuple[Index, Index]) -> list[Group]:
    """The blocks of each height in a range of all."""
    result, before = list[Group](), f.index(0)
    for height, skipped, begin, stop in blocks:
        first, end = f.share_of_group(before, stop - begin, range)
        feature = (begin + first) * height + skipped
        result.append(Group(height, first, end, before + first - range[0], feature))
        before = before + (stop - begin)
    return result


def _multiply_groups(
    f: Routine,
    memory: Memory,
    groups: Sequence[Group],
    some: Some,
    grid: Grid,
    source: Source,
    turns: tuple[Index, Index],
) -> None:
    """Blocks by some windows."""
    like, (parts, most) = memory.like, turns
    width, inner, last = like.width, f.argument("inner"), f.most(grid.span - like.width, 0)
    with f.loop(0, parts) as part:
        tap = part * most
        taps = f.least(inner - tap, most)
        slots = some.tiles + f.choose(some.has_rest, f.index(1), 0)
        source.gather(memory.columns, some.window, (tap, taps), slots, last)
        ends = f.index(f.convert("zext", part.equals(parts - 1), "i64"))
        gathered = Taps(f, memory, grid, tap, taps, ends, parts.equals(1), last)
        for group in groups:
            with f.loop(group.first, group.stop, BLOCKS_TOGETHER) as first:
                with f.loop(first, f.least(first + BLOCKS_TOGETHER, group.stop)) as block:
                    f.poll(taps * ((some.tiles + 1) * (group.height * width)) // LANES)
                    with f.loop(0, some.tiles) as n:
                        window = some.window + n * width
                        gathered.multiply(group, block, n, (f.least(window, last), window), like.vectors)
                with f.when(some.has_rest):
                    gathered.multiply_rest(group, first, some)


class Taps(Struct, frozen=True):
    """Some taps, the windows of which were gathered, and where sums wait for those behind.

    In a slot of each lie the windows of a tile and the sums of a block by it; in the slot behind those of all tiles,
    the windows from `last` on. `ends` is 1 where the taps are the last ones.
    """

    f: Routine
    memory: Memory
    grid: Grid
    tap: Index
    count: Index
    ends: Index
    are_all: Value
    last: Index

    def multiply(
        self,
        group: Group,
        block: Index,
        slot: Index,
        windows: tuple[Index, Index],
        vectors: int,
        lane: Index | int = 0,
    ) -> None:
        """A block by so many vectors of windows.

        `windows` are the one that is that lane of a slot, and the first one that is stored.
        """
        f, v, width, feature = self.f, self.memory.like.v, self.memory.like.width, group.feature_of(block)
        x = v.offset(f, self.memory.columns_of(f, slot), lane)
        for more, features in split_block(group.height, TILE_FEATURES[f.module.machine.vector_bytes]):
            tile = Tile(v, features, group.height, vectors, self.memory.like.adds, width)
            define_tile(f.module, tile)
            y, *rest = feature_operands(f, v, tile.adds, feature + more, self.grid.pixels)
            waiting = v.offset(f, self._sums(group, block, slot), more * tile.width)
            w, filters = self._filters(group, feature, more)
            skipped = f.argument("inner") - self.count
            numbers = self.count, filters, f["bounded"], skipped, self.tap, self.ends
            grid = self.grid.pixels, *windows, self.grid.span, *self.grid.lines
            f.run(tile.name, y, waiting, x, w, *rest, *numbers, *grid)

    def multiply_rest(self, group: Group, first: Index, some: Some) -> None:
        """Vectors of windows, and windows alone, by the blocks from one on that are taken together."""
        f, v = self.f, self.memory.like.v
        stop = f.least(first + BLOCKS_TOGETHER, group.stop)
        with f.when(some.narrow > 0), f.loop(first, stop) as block:
            window = f.most(f.least(some.start, self.grid.span - v.lanes), 0)
            self.multiply(group, block, some.tiles, (window, some.start), 1, window - self.last)
        are_together, is_single = (stop - first).equals(BLOCKS_TOGETHER), some.alone.equals(1)
        with f.when(are_together & is_single):
            self.multiply_alone(group, first, some, BLOCKS_TOGETHER, 1)
        together = blocks_together(v, group.height)
        with f.when(are_together & (some.alone > 1)), f.loop(first, stop, together) as block:
            self.multiply_alone(group, block, some, together, FEW_WINDOWS)
        with f.when((are_together ^ True) & (some.alone > 0)), f.loop(first, stop) as block:
            self.multiply_alone(group, block, some, 1, FEW_WINDOWS)

    def multiply_alone(self, group: Group, block: Index, some: Some, blocks: int, windows: int) -> None:
        """So many blocks from one on by the windows that go alone."""
        f, v, feature, adds = self.f, self.memory.like.v, group.feature_of(block), self.memory.like.adds
        few = FewWindows(v, group.height, blocks, adds, windows, self.memory.like.width)
        define_few(f.module, few)
        y, *rest = feature_operands(f, v, adds, feature, self.grid.pixels)
        waiting = v.offset(f, self._sums(group, block, some.tiles), FILTER_BLOCK * v.lanes)
        w, filters = self._filters(group, feature, 0)
        numbers = f.argument("inner"), filters, f["bounded"], some.end - some.alone, self.grid.pixels
        f.run(
            few.name,
            y,
            waiting,
            self.memory.columns_of(f, some.tiles),
            w,
            *rest,
            *numbers,
            self.count,
            self.tap,
            self.ends,
            self.last,
        )

    def _sums(self, group: Group, block: Index, slot: Index) -> Value:
        """Those of a block by the windows of a slot. They do not wait where the taps are all: one slot serves all."""
        f = self.f
        number = f.choose(self.are_all, f.index(0), group.before + (block - group.first))
        return self.memory.sums_of(f, number, slot)

    def _filters(self, group: Group, feature: Index, more: int) -> tuple[Value, Index]:
        """Those of the taps for the features of a block from one on, and how many elements there are."""
        f, inner, skipped = self.f, self.f.argument("inner"), self.tap * group.height + more
        return self.memory.like.v.offset(f, f["w"], feature * inner + skipped), filters_from(f, feature) - skipped


def _define_gather(module: Module, tile: Tile, room: Room) -> str:
    """for taps: for tiles: the vectors of its windows, the last tile so far back that it ends with the last window."""
    v = tile.v
    name = f"@whorl.gather_windows.{v.suffix}x{tile.vectors}"
    if name in module:
        return name
    f = Routine(module, name, ["_columns", "x", "offsets"], ["taps", "tiles", "last"])
    taps, tiles, last = f.indices("taps", "tiles", "last")
    with f.loop(0, taps) as tap:
        x = f.offset_outside(f["x"], v.scalar, load_offset(f, tap))
        with f.loop(0, tiles) as n:
            source = f.offset_outside(x, v.scalar, f.least(n * tile.width, last))
            target = v.offset(f, f["columns"], n * (room.taps * tile.width) + tap * tile.width)
            columns = [v.load(f, f.offset_outside(source, v.scalar, k * v.lanes)) for k in range(tile.vectors)]
            for k, column in enumerate(columns):
                f.store(column, v.offset(f, target, k * v.lanes), v.lanes * v.size)
    f.end()
    return name
