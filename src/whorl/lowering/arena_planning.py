"""The plan of a program's scratch memory, made before the first run: which buffers share bytes, where they begin."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.native.expressions import Buffer
from whorl.kernel.program import Program, RunOp, Statement, Swap
from whorl.kernel.walk import all_statements, loads, written
from whorl.lowering.arena import TYPICAL, Arena, aligned

Shapes = Mapping[Buffer, tuple[Dim, ...]]


class Slot(Struct):
    """Memory behind the fixed block that some buffers use one after the other: the bytes that each of them needs."""

    bytes: list[Dim]
    taken: int = 0
    """The statements during which it is not free, a bit each."""


class _Life(Struct):
    """A buffer's bytes, and the first and last statement of the program that use it."""

    size: int
    first: int
    last: int

    @property
    def statements(self) -> int:
        """The statements of its life, a bit each."""
        return max(0, (1 << self.last + 1) - (1 << self.first))

    def meets(self, other: _Life) -> bool:
        return self.first <= other.last and other.first <= self.last


def plan_arena(program: Program, shapes: Shapes | None = None) -> Arena:
    """Places for the scratch buffers: the largest first, each at the lowest offset that is free all its life.

    A statement with statements inside counts as one: what a loop uses lives as long as the loop. Buffers among `shapes`
    have slots.
    """
    lives = _lives(program)
    order = sorted(range(len(lives)), key=lambda n: -lives[n].size)
    offsets = [0] * len(lives)
    allocated: list[int] = []
    for n in order:
        if not lives[n].size:
            break
        offset = 0
        for other in sorted((m for m in allocated if lives[m].meets(lives[n])), key=lambda m: offsets[m]):
            if offset + lives[n].size <= offsets[other]:
                break
            offset = max(offset, offsets[other] + lives[other].size)
        offsets[n] = offset
        allocated.append(n)
    size = max((offsets[n] + lives[n].size for n in allocated), default=0)
    slots, members = _slots(program.scratch, lives, shapes or {})
    return Arena(size, tuple(offsets), slots, members)


def _slots(
    scratch: Sequence[Buffer], lives: Sequence[_Life], shapes: Shapes
) -> tuple[tuple[tuple[Dim, ...], ...], tuple[tuple[int, int], ...]]:
    """Slots for buffers whose sizes a run knows; those of one size share one rather than others."""
    bytes = {n: dims.product(shapes[b]) * b.dtype.itemsize for n, b in enumerate(scratch) if b in shapes}
    typical = {form: _typical(form) for form in set(bytes.values())}
    slots: list[Slot] = []
    members: list[tuple[int, int]] = []
    for n, form in sorted(bytes.items(), key=lambda item: -typical[item[1]]):
        if isinstance(form, int):
            continue
        during = lives[n].statements
        free = [number for number, slot in enumerate(slots) if not slot.taken & during]
        same = [number for number in free if form in slots[number].bytes]
        if not free:
            slots.append(Slot([]))
        number = (same or free or [len(slots) - 1])[0]
        slots[number].taken |= during
        if form not in slots[number].bytes:
            slots[number].bytes.append(form)
        members.append((n, number))
    return tuple(tuple(slot.bytes) for slot in slots), tuple(members)


def _typical(form: Dim) -> int:
    return dims.evaluate(form, dict.fromkeys(dims.names_in(form), TYPICAL))


def _lives(program: Program) -> list[_Life]:
    never = len(program.body)
    lives = {b: _Life(_rounded(b), never, -1) for b in program.scratch}
    for n, statement in enumerate(program.body):
        for buffer in used_buffers([statement]):
            if buffer in lives:
                life = lives[buffer]
                life.first, life.last = min(life.first, n), max(life.last, n)
    for a, b in swapped_pairs(program.body):
        if a in lives and b in lives:
            lives[a].first = lives[b].first = min(lives[a].first, lives[b].first)
            lives[a].last = lives[b].last = max(lives[a].last, lives[b].last)
    return [lives[b] for b in program.scratch]


def _rounded(buffer: Buffer) -> int:
    """The bytes of a buffer as it lies in the fixed block; others lie elsewhere, or in slots."""
    lengths = [length for length in buffer.shape if isinstance(length, int)]
    if buffer.grows or len(lengths) < len(buffer.shape):
        return 0
    return aligned(math.prod(lengths) * buffer.dtype.itemsize)


def swapped_pairs(statements: Sequence[Statement]) -> list[tuple[Buffer, Buffer]]:
    """Buffers that trade places, in any block."""
    return [(s.a, s.b) for s in all_statements(statements) if isinstance(s, Swap)]


def used_buffers(statements: Sequence[Statement]) -> set[Buffer]:
    """The buffers that statements, and those inside them, read or write."""
    result = {load.buffer for load in loads(statements)}
    for statement in all_statements(statements):
        result.update(written(statement))
        if isinstance(statement, RunOp):
            result.update(b for b in statement.inputs if b is not None)
    return result
