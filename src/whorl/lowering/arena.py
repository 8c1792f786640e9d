"""Scratch memory of a program in one block: buffers that are never needed at the same time share their bytes.

The plan is made before the first run. A run borrows a block and gives it back, so runs at the same time have their own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from whorl.ir.native.expressions import Buffer
from whorl.kernel.program import Program, RunOp, Statement, Swap
from whorl.kernel.walk import all_statements, loads, written

ALIGNMENT = 64


@dataclass(frozen=True)
class Arena:
    """The bytes that scratch memory takes, and where in it each scratch buffer begins."""

    size: int
    offsets: tuple[int, ...]


@dataclass
class _Life:
    """A buffer's bytes, and the first and last statement of the program that use it."""

    size: int
    first: int
    last: int

    def meets(self, other: _Life) -> bool:
        return self.first <= other.last and other.first <= self.last


def plan_arena(program: Program) -> Arena:
    """Places for the scratch buffers: the largest first, each at the lowest offset that is free all its life.

    A statement with statements inside counts as one: what a loop uses lives as long as the loop.
    """
    lives = _lives(program)
    order = sorted(range(len(lives)), key=lambda n: -lives[n].size)
    offsets = [0] * len(lives)
    allocated: list[int] = []
    for n in order:
        offset = 0
        for other in sorted((m for m in allocated if lives[m].meets(lives[n])), key=lambda m: offsets[m]):
            if offset + lives[n].size <= offsets[other]:
                break
            offset = max(offset, offsets[other] + lives[other].size)
        offsets[n] = offset
        allocated.append(n)
    return Arena(max((offsets[n] + lives[n].size for n in allocated), default=0), tuple(offsets))


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
    """The bytes of a buffer as it lies in the arena; those that grow lie elsewhere."""
    if buffer.grows:
        return 0
    size = math.prod(length for length in buffer.shape if isinstance(length, int)) * buffer.dtype.itemsize
    return -(-size // ALIGNMENT) * ALIGNMENT


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
